package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageEventRecorder.HandlerOutcome;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes one claimed message: decides whether its handler may start, calls it, and
 * settles the message in every way but acknowledgement, which the loop does. Handling and
 * settling are separate, so that a failure of the store does not count as a failure of
 * the handler: settlements are retried while the lease lasts.
 * <p>
 * <strong>Threads.</strong> Runs on the handler thread of each message, which waits here
 * for the store; if the handler returned a future, another thread settles. Stateless.
 */
final class DeliveryProcessor {

    private static final Logger logger = LoggerFactory.getLogger(DeliveryProcessor.class);

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final PollLoopLog log;

    private final BiConsumer<InFlightMessage, Boolean> onEnd;

    private final SafeTaskDecorator decorator;

    /**
     * Creates a processor.
     * @param onEnd receives each message once, when it is settled or, if the value is
     * {@code true}, ready to be acknowledged
     */
    DeliveryProcessor(PartitionBinding binding, PollLoopContext context, BiConsumer<InFlightMessage, Boolean> onEnd) {
        this.binding = binding;
        this.context = context;
        this.log = new PollLoopLog(binding, context);
        this.onEnd = onEnd;
        this.decorator = context.decorator();
    }

    /** Handles and settles a message. */
    void process(InFlightMessage inFlight) {
        this.binding.counters().running.incrementAndGet();
        if (inFlight.message().redelivered()) {
            this.binding.redelivered();
        }
        runAndFinish(inFlight, () -> decorated(inFlight));
    }

    private End decorated(InFlightMessage inFlight) {
        End[] end = { End.SETTLED };
        Throwable failure = this.decorator.run(() -> end[0] = endOf(inFlight, () -> checkPreconditions(inFlight)));
        return (failure != null) ? undecorated(inFlight, failure) : end[0];
    }

    private void runAndFinish(InFlightMessage inFlight, Supplier<End> work) {
        End end = End.SETTLED;
        DeliveryMdc logContext = DeliveryMdc.enter(inFlight);
        try {
            end = endOf(inFlight, work);
        }
        finally {
            logContext.leave();
        }
        if (end != End.ASYNC) {
            this.context.executor().handlerEnded(inFlight);
            this.binding.counters().running.decrementAndGet();
            this.onEnd.accept(inFlight, end == End.ACKNOWLEDGE);
        }
    }

    private static End endOf(InFlightMessage inFlight, Supplier<End> work) {
        try {
            return work.get();
        }
        catch (Throwable ex) {
            logger.error("Cannot process message '{}' of queue '{}'; it may be handled again when its lease runs out",
                    inFlight.lease().id(), inFlight.lease().queue(), ex);
            return End.SETTLED;
        }
    }

    private End checkPreconditions(InFlightMessage inFlight) {
        ClaimedMessage message = inFlight.message();
        if (!inFlight.isLive(this.context.now())) {
            return releaseLate(inFlight);
        }
        Instant expiresAt = message.expiresAt();
        if (expiresAt != null && !inFlight.storeTime(this.context.now()).isBefore(expiresAt)) {
            return expired(inFlight);
        }
        ListenerSettings settings = this.binding.settings();
        if (message.lapses() >= settings.maxLapses()) {
            return deadLetter(inFlight,
                    ("Its lease ran out %s while it was handled (max-lapses is %d): "
                            + "its handler may end or stall the process")
                        .formatted(Texts.count(message.lapses(), "time"), settings.maxLapses()));
        }
        if (message.failures() >= settings.maxAttempts()) {
            return deadLetter(inFlight, "It has failed %s (max-attempts is %d)"
                .formatted(Texts.count(message.failures(), "time"), settings.maxAttempts()));
        }
        return handle(inFlight);
    }

    private End expired(InFlightMessage inFlight) {
        Lease lease = inFlight.lease();
        this.binding.expired(1);
        this.binding.expirations().note(lease.id());
        if (this.binding.settings().expiryPolicy() == ExpiryPolicy.DEAD_LETTER) {
            // Expired messages are logged together.
            if (storeDeadLetter(inFlight, "expired", false, "expired")) {
                publishDeadLetter(inFlight, false, "expired");
            }
        }
        else {
            logger.debug("Message '{}' of queue '{}' has expired and is dropped", lease.id(), lease.queue());
            settle(inFlight, () -> this.context.store().expire(lease), "has expired");
        }
        return End.SETTLED;
    }

    private End handle(InFlightMessage inFlight) {
        if (inFlight.message().redelivered() && !start(inFlight)) {
            return End.SETTLED;
        }
        HandlerDelivery delivery = new HandlerDelivery(inFlight, this.binding, this.context);
        MessageHandler.Call call;
        try {
            call = this.binding.handler().prepare(inFlight.message(), delivery);
        }
        catch (Exception ex) {
            return deadLetter(inFlight, FailureSummary.cause(ex), FailureSummary.line(ex), null);
        }
        catch (Error ex) {
            // An error indicates a problem of this process rather than of the message.
            this.binding.counters().failed.increment();
            return failed(inFlight, ex);
        }
        long now = this.context.now();
        if (!inFlight.isLive(now)) {
            return releaseLate(inFlight);
        }
        this.binding.started(inFlight.lateness(now));
        HandlerTimeout timeout = HandlerTimeout.start(inFlight, this.binding.settings().timeout(),
                this.context.timer());
        return call(new Handling(inFlight, delivery, timeout, now), call);
    }

    /** Counts as a failure, or the message might never be dead-lettered. */
    private End undecorated(InFlightMessage inFlight, Throwable failure) {
        if (!inFlight.isLive(this.context.now())) {
            return releaseLate(inFlight);
        }
        this.binding.counters().failed.increment();
        return failed(inFlight, failure);
    }

    private End call(Handling handling, MessageHandler.Call call) {
        this.context.executor().handlerStarted(handling.inFlight(), handling.timeout());
        CompletionStage<?> stage = null;
        Throwable failure = null;
        try {
            stage = call.invoke();
        }
        catch (Throwable ex) {
            // Errors count, or a handler that fails to link would be retried forever.
            failure = ex;
        }
        finally {
            handling.timeout().returned();
            // An interrupt was meant for the handler, not for the code that follows.
            Thread.interrupted();
        }
        return (stage != null) ? await(handling, stage) : complete(handling, failure);
    }

    private End await(Handling handling, CompletionStage<?> stage) {
        CompletableFuture<@Nullable Object> ended = new CompletableFuture<>();
        stage.whenComplete((result, ex) -> {
            if (ex != null) {
                ended.completeExceptionally(ex);
            }
            else {
                ended.complete(null);
            }
        });
        // The timer and the application's threads must not wait for the store.
        handling.timeout().cancelBy(() -> this.context.runOnHandlerThread(() -> {
            ended.completeExceptionally(new InterruptedException("Cancelled by the handler's timeout"));
            cancel(stage);
        }));
        if (ended.isDone()) {
            return complete(handling, failureOf(ended));
        }
        ended.whenComplete((result, ex) -> this.context
            .runOnHandlerThread(() -> runAndFinish(handling.inFlight(), () -> complete(handling, failureOf(ended)))));
        return End.ASYNC;
    }

    private static void cancel(CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().cancel(true);
        }
        catch (UnsupportedOperationException ex) {
            logger.debug("The future of a handler cannot be cancelled; it goes on without a lease");
        }
    }

    private static @Nullable Throwable failureOf(CompletableFuture<?> ended) {
        try {
            ended.join();
            return null;
        }
        catch (RuntimeException ex) {
            return StoreFailures.unwrap(ex);
        }
    }

    private End complete(Handling handling, @Nullable Throwable failure) {
        boolean timedOut = handling.timeout().end();
        long nanos = this.context.now() - handling.startedAt();
        InFlightMessage inFlight = handling.inFlight();
        if (failure != null && handling.timeout().isStopped()) {
            logger.warn(
                    "The handler of message '{}' of queue '{}' outlived the shutdown timeout and was interrupted on "
                            + "attempt {}; the message is released and the attempt does not count: {}",
                    inFlight.lease().id(), inFlight.lease().queue(), inFlight.attempt(), FailureSummary.line(failure));
            return release(inFlight, Duration.ZERO);
        }
        if (failure == null) {
            this.binding.handled(HandlerOutcome.SUCCESS, nanos);
            return settleByDecision(inFlight, handling.delivery().decision());
        }
        if (failure instanceof HandlerUnavailableException) {
            return releaseUnavailable(inFlight, failure);
        }
        this.binding.handled(timedOut ? HandlerOutcome.TIMEOUT : HandlerOutcome.FAILURE, nanos);
        return failed(inFlight, timedOut ? timeoutException(failure) : failure);
    }

    private End failed(InFlightMessage inFlight, Throwable failure) {
        if (inFlight.attempt() >= this.binding.settings().maxAttempts() || isFinal(failure)) {
            return deadLetter(inFlight, FailureSummary.cause(failure), FailureSummary.line(failure), failure);
        }
        return retry(inFlight, failure);
    }

    private End settleByDecision(InFlightMessage inFlight, HandlerDelivery.@Nullable Decision decision) {
        if (decision instanceof HandlerDelivery.ReleaseDecision release) {
            return release(inFlight, release.delay());
        }
        if (decision instanceof HandlerDelivery.DeadLetterDecision deadLetter) {
            return deadLetter(inFlight, deadLetter.reason());
        }
        return End.ACKNOWLEDGE;
    }

    private Throwable timeoutException(Throwable failure) {
        Duration timeout = this.binding.settings().timeout();
        HandlerTimeoutException exception = new HandlerTimeoutException((timeout != null) ? timeout : Duration.ZERO);
        exception.addSuppressed(failure);
        return exception;
    }

    private boolean isFinal(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = StoreFailures.wrapped(cause)) {
            for (Class<? extends Throwable> type : this.binding.settings().noRetryFor()) {
                if (type.isInstance(cause)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Records the start of a redelivered message; {@code false} if it must not start.
     */
    private boolean start(InFlightMessage inFlight) {
        Lease lease = inFlight.lease();
        try {
            boolean recorded = StoreFutures.send(() -> this.context.store().start(lease)).join();
            if (!recorded) {
                this.log.leaseLost(inFlight, "its handler was to start");
            }
            return recorded;
        }
        catch (RuntimeException ex) {
            logger.warn("Cannot start the handler of message '{}' of queue '{}'; it is handled when its lease runs "
                    + "out: {}", lease.id(), lease.queue(), StoreFailures.unwrap(ex).toString());
            return false;
        }
    }

    /** Releases the message without counting an attempt. */
    private End release(InFlightMessage inFlight, Duration delay) {
        settle(inFlight,
                () -> this.context.store()
                    .release(inFlight.lease().partition(), List.of(inFlight.lease()), delay)
                    .thenApply((answers) -> answers.get(0)),
                "was to be released");
        return End.SETTLED;
    }

    /**
     * Releases the message with its due time, as if its handler had not started: the
     * handler was unavailable for all messages, so the order of messages must not change.
     */
    private End releaseUnavailable(InFlightMessage inFlight, Throwable failure) {
        logger.debug("Message '{}' of queue '{}' is released, as its handler is unavailable: {}", inFlight.lease().id(),
                inFlight.lease().queue(), FailureSummary.line(failure));
        settle(inFlight,
                () -> this.context.store()
                    .release(inFlight.lease().partition(), List.of(inFlight.message().unstartedLease()))
                    .thenApply((answers) -> answers.get(0)),
                "was to be released");
        return End.SETTLED;
    }

    /** Releases a lease that has run out here, in case it has not in the store. */
    private End releaseLate(InFlightMessage inFlight) {
        Lease lease = inFlight.lease();
        logger.debug("Message '{}' of queue '{}' waited longer than its lease for its handler and is released",
                lease.id(), lease.queue());
        StoreFutures
            .send(() -> this.context.store().release(lease.partition(), List.of(inFlight.message().unstartedLease())));
        return End.SETTLED;
    }

    /** Makes the message due again because its handler failed. */
    End retry(InFlightMessage inFlight, Throwable failure) {
        Duration delay = this.binding.settings().backoff().delayAfter(inFlight.attempt(), this.context::random);
        String line = FailureSummary.line(failure);
        Lease lease = inFlight.lease();
        if (settle(inFlight, () -> this.context.store().retry(lease, delay, line), "failed with " + line)) {
            this.binding.retried();
            logger.warn("Message '{}' of queue '{}' failed on attempt {} and is due again in {}: {}", lease.id(),
                    lease.queue(), inFlight.attempt(), Texts.span(delay), line);
            logger.debug("Message '{}' failed", lease.id(), failure);
        }
        return End.SETTLED;
    }

    private End deadLetter(InFlightMessage inFlight, String reason) {
        String cause = Texts.cut(reason, FailureSummary.MAX_CAUSE);
        return deadLetter(inFlight, cause, cause, null);
    }

    /**
     * Dead-letters the message.
     * @param failure the exception of the handler, if it failed
     */
    private End deadLetter(InFlightMessage inFlight, String cause, String line, @Nullable Throwable failure) {
        boolean failed = failure != null;
        if (storeDeadLetter(inFlight, cause, failed, line)) {
            logger.error("Message '{}' of queue '{}' is dead-lettered on attempt {}: {}", inFlight.lease().id(),
                    inFlight.lease().queue(), inFlight.attempt(), line, failure);
            publishDeadLetter(inFlight, failed, line);
        }
        return End.SETTLED;
    }

    private boolean storeDeadLetter(InFlightMessage inFlight, String cause, boolean failed, String line) {
        DeadLetterRequest request = new DeadLetterRequest(cause, failed, inFlight.message().dueAt());
        boolean done = settle(inFlight, () -> this.context.store().deadLetter(inFlight.lease(), request),
                "was to be dead-lettered for: " + line);
        if (done) {
            this.binding.deadLettered();
        }
        return done;
    }

    private void publishDeadLetter(InFlightMessage inFlight, boolean failed, String line) {
        Lease lease = inFlight.lease();
        this.context.publish(new DeadLetterEvent(lease.queue().value(), lease.id(), lease.deadLetterId(),
                inFlight.message().failures() + (failed ? 1 : 0), line));
    }

    /** Returns whether the store has confirmed the settlement. */
    private boolean settle(InFlightMessage inFlight, Supplier<CompletableFuture<Boolean>> call, String what) {
        inFlight.settling(true);
        int failures = 0;
        while (true) {
            try {
                boolean done = StoreFutures.send(call).join();
                if (!done) {
                    this.log.leaseLost(inFlight, "it " + what);
                }
                return done;
            }
            catch (RuntimeException ex) {
                failures++;
                Throwable cause = StoreFailures.unwrap(ex);
                if (!mayTryAgain(inFlight, cause, failures)) {
                    logger.warn(
                            "Cannot settle message '{}' of queue '{}', which {}; it may be handled again when "
                                    + "its lease runs out: {}",
                            inFlight.lease().id(), inFlight.lease().queue(), what, cause.toString());
                    return false;
                }
            }
        }
    }

    private boolean mayTryAgain(InFlightMessage inFlight, Throwable cause, int failures) {
        inFlight.stopRenewing();
        if (!(cause instanceof StoreUnavailableException)) {
            return false;
        }
        Duration wait = PollLoop.STORE_BACKOFF.delayAfter(failures, this.context::random);
        if (inFlight.nanosLeft(this.context.now()) <= wait.toNanos()) {
            return false;
        }
        this.context.timer().pause(wait);
        return inFlight.isLive(this.context.now());
    }

    private enum End {

        /** Handled; the loop acknowledges it. */
        ACKNOWLEDGE,

        /** Settled in another way, or left to its lease. */
        SETTLED,

        /** The handler's future determines the end. */
        ASYNC

    }

    /** Holds a handler that is running, and when it was about to start. */
    private record Handling(InFlightMessage inFlight, HandlerDelivery delivery, HandlerTimeout timeout,
            long startedAt) {
    }

}
