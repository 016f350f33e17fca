package io.delayqueue.web.consume;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.Responses;
import jakarta.servlet.http.HttpServletRequest;
import tools.jackson.databind.JsonNode;

import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Writes the messages of one claim to the HTTP response, or releases them if the request
 * has ended. If the request ends before there are any, the claim stops waiting.
 * <p>
 * <strong>Threads.</strong> Any may end the request; the first one decides.
 */
public final class ClaimResponseWriter implements DeferredResultProcessingInterceptor {

    private final CompletableFuture<List<ClaimedHttpMessage>> claim;

    private final Consumer<List<ClaimedHttpMessage>> releaseUnseen;

    private final Consumer<Throwable> failed;

    private final AtomicBoolean decided = new AtomicBoolean();

    private ClaimResponseWriter(CompletableFuture<List<ClaimedHttpMessage>> claim,
            Consumer<List<ClaimedHttpMessage>> releaseUnseen, Consumer<Throwable> failed) {
        this.failed = failed;
        this.claim = claim;
        this.releaseUnseen = releaseUnseen;
    }

    /**
     * Observes a request until it ends.
     * @param claim completes with its messages
     * @param releaseUnseen releases messages that were not written
     * @param failed receives the reason if no response could be built
     */
    public static ClaimResponseWriter of(HttpServletRequest request, CompletableFuture<List<ClaimedHttpMessage>> claim,
            Consumer<List<ClaimedHttpMessage>> releaseUnseen, Consumer<Throwable> failed) {
        ClaimResponseWriter writer = new ClaimResponseWriter(claim, releaseUnseen, failed);
        WebAsyncUtils.getAsyncManager(request).registerDeferredResultInterceptor(ClaimResponseWriter.class, writer);
        return writer;
    }

    /**
     * Returns the response with the messages, built completely before any of it is
     * written.
     * @param body converts the messages
     * @param outcomes receives the outcome once the write has begun; a partial write has
     * an unknown outcome
     */
    public ServerResponse answer(List<ClaimedHttpMessage> messages, Function<List<ClaimedHttpMessage>, JsonNode> body,
            Consumer<Outcome> outcomes) {
        return Responses.made(() -> made(messages, body), (write) -> write(write, outcomes), this.failed);
    }

    private byte[] made(List<ClaimedHttpMessage> messages, Function<List<ClaimedHttpMessage>, JsonNode> body) {
        try {
            return Json.bytes(body.apply(messages));
        }
        catch (RuntimeException ex) {
            giveUp();
            throw ex;
        }
    }

    private void write(Responses.Write write, Consumer<Outcome> outcomes) throws IOException {
        if (this.decided.get()) {
            throw new IOException("The request has ended, and its messages are released");
        }
        try {
            write.run();
        }
        catch (IOException | RuntimeException ex) {
            giveUp();
            outcomes.accept(Outcome.UNKNOWN);
            throw ex;
        }
        outcomes.accept(this.decided.compareAndSet(false, true) ? Outcome.DONE : Outcome.UNKNOWN);
    }

    /** Ends the request without the messages. */
    private void giveUp() {
        if (!this.claim.complete(List.of()) && this.decided.compareAndSet(false, true)) {
            this.claim.thenAccept(this.releaseUnseen);
        }
    }

    @Override
    public <T> boolean handleTimeout(NativeWebRequest request, DeferredResult<T> result) {
        giveUp();
        return true;
    }

    @Override
    public <T> boolean handleError(NativeWebRequest request, DeferredResult<T> result, Throwable failure) {
        giveUp();
        return true;
    }

    @Override
    public <T> void afterCompletion(NativeWebRequest request, DeferredResult<T> result) {
        giveUp();
    }

}
