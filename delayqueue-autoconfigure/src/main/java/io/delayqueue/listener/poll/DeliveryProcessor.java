package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.QueueEventListener.HandlerOutcome;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes one claimed message: decides whether its handler may start, and how to settle
 * the message after the handler. Handling and settling are separate, so that a failure of
 * the store does not count as a failure of the handler.
 * <p>
 * <strong>Threads.</strong> Runs on the handler thread of each message; if the handler
 * returned a future, another thread settles. Stateless.
 */
final class DeliveryProcessor {

    private static final Logger logger = LoggerFactory.getLogger(DeliveryProcessor.class);

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final LeaseSettler settlement;

    private final Finish finish;

    private final HandlerDecoration decoration;

    DeliveryProcessor(ListenerEndpoint queue, ListenerRuntime context, Finish finish) {
        this.queue = queue;
        this.context = context;
        this.settlement = new LeaseSettler(queue, context);
        this.finish = finish;
        this.decoration = context.decoration();
    }

    /** Handles and settles a message; always calls {@link Finish} exactly once. */
    void process(InFlightMessage held) {
        this.queue.counters().running.incrementAndGet();
        if (held.message().suspect()) {
            this.queue.redelivered();
        }
        End[] end = { End.SETTLED };
        DeliveryMdc logContext = DeliveryMdc.enter(held);
        try {
            Throwable failure = this.decoration.run(() -> end[0] = endOf(held, () -> admit(held)));
            if (failure != null) {
                end[0] = endOf(held, () -> undecorated(held, failure));
            }
        }
        finally {
            logContext.leave();
        }
        finish(held, end[0]);
    }

    private void concludeBy(InFlightMessage held, Supplier<End> work) {
        End end = End.SETTLED;
        DeliveryMdc logContext = DeliveryMdc.enter(held);
        try {
            end = endOf(held, work);
        }
        finally {
            logContext.leave();
        }
        finish(held, end);
    }

    private static End endOf(InFlightMessage held, Supplier<End> work) {
        try {
            return work.get();
        }
        catch (Throwable ex) {
            logger.error("Cannot process message '{}' of queue '{}'; it may be handled again when its lease runs out",
                    held.lease().id(), held.lease().queue(), ex);
            return End.SETTLED;
        }
    }

    private void finish(InFlightMessage held, End end) {
        if (end != End.LATER) {
            this.context.threads().ended(held);
            this.queue.counters().running.decrementAndGet();
            this.finish.finished(held, end == End.ACKNOWLEDGE);
        }
    }

    private End admit(InFlightMessage held) {
        ClaimedMessage message = held.message();
        if (!held.isLive(this.context.now())) {
            this.settlement.giveBackLate(held);
            return End.SETTLED;
        }
        Instant expiresAt = message.expiresAt();
        if (expiresAt != null && !held.storeTime(this.context.now()).isBefore(expiresAt)) {
            return expired(held);
        }
        ListenerSettings settings = this.queue.settings();
        if (message.lapses() >= settings.maxLapses()) {
            this.settlement.deadLetter(held,
                    ("Its lease ran out %s while it was handled (max-lapses is %d): "
                            + "its handler may end or stall the process")
                        .formatted(Texts.count(message.lapses(), "time"), settings.maxLapses()));
            return End.SETTLED;
        }
        if (message.failures() >= settings.maxAttempts()) {
            this.settlement.deadLetter(held, "It has failed %s (max-attempts is %d)"
                .formatted(Texts.count(message.failures(), "time"), settings.maxAttempts()));
            return End.SETTLED;
        }
        return handle(held);
    }

    private End expired(InFlightMessage held) {
        this.queue.expired(1);
        this.queue.expirations().note(held.lease().id());
        if (this.queue.settings().expiredPolicy() == ExpiryPolicy.DEAD_LETTER) {
            this.settlement.expire(held);
        }
        else {
            logger.debug("Message '{}' of queue '{}' has expired and is dropped", held.lease().id(),
                    held.lease().queue());
            this.settlement.drop(held);
        }
        return End.SETTLED;
    }

    private End handle(InFlightMessage held) {
        if (held.message().suspect() && !this.settlement.start(held)) {
            return End.SETTLED;
        }
        HandlerDelivery delivery = new HandlerDelivery(held, this.queue, this.context);
        MessageHandler.Call call;
        try {
            call = this.queue.handler().prepare(held.message(), delivery);
        }
        catch (Exception ex) {
            this.settlement.deadLetter(held, ex, false);
            return End.SETTLED;
        }
        catch (Error ex) {
            // An error indicates a problem of this process rather than of the message.
            this.queue.counters().failed.increment();
            return failed(held, ex);
        }
        long now = this.context.now();
        if (!held.isLive(now)) {
            this.settlement.giveBackLate(held);
            return End.SETTLED;
        }
        this.queue.started(held.lateness(now));
        return call(new Handling(held, delivery, now), call);
    }

    /** Counts as a failure, or the message might never be dead-lettered. */
    private End undecorated(InFlightMessage held, Throwable failure) {
        if (!held.isLive(this.context.now())) {
            this.settlement.giveBackLate(held);
            return End.SETTLED;
        }
        this.queue.counters().failed.increment();
        return failed(held, failure);
    }

    private End call(Handling handling, MessageHandler.Call call) {
        HandlerTimeout timeout = HandlerTimeout.start(handling.held(), this.queue.settings().timeout(),
                this.context.timer());
        this.context.threads().began(handling.held(), timeout);
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
            timeout.returned();
            // An interrupt was meant for the handler, not for the code that follows.
            Thread.interrupted();
        }
        return (stage != null) ? await(handling, timeout, stage) : conclude(handling, timeout, failure);
    }

    private End await(Handling handling, HandlerTimeout timeout, CompletionStage<?> stage) {
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
        timeout.cancelBy(() -> this.context.elsewhere(() -> {
            ended.completeExceptionally(new InterruptedException("Cancelled by the handler's timeout"));
            cancel(stage);
        }));
        if (ended.isDone()) {
            return conclude(handling, timeout, failureOf(ended));
        }
        ended.whenComplete((result, ex) -> this.context
            .elsewhere(() -> concludeBy(handling.held(), () -> conclude(handling, timeout, failureOf(ended)))));
        return End.LATER;
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
            return StoreFutures.unwrap(ex);
        }
    }

    private End conclude(Handling handling, HandlerTimeout timeout, @Nullable Throwable failure) {
        boolean timedOut = timeout.end();
        long nanos = this.context.now() - handling.startedAt();
        InFlightMessage held = handling.held();
        if (failure != null && timeout.isStopped()) {
            this.settlement.giveBackInterrupted(held, failure);
            return End.SETTLED;
        }
        if (failure == null) {
            this.queue.handled(HandlerOutcome.SUCCESS, nanos);
            return decided(held, handling.delivery().decision());
        }
        this.queue.handled(timedOut ? HandlerOutcome.TIMEOUT : HandlerOutcome.FAILURE, nanos);
        return failed(held, timedOut ? timeoutException(failure) : failure);
    }

    private End failed(InFlightMessage held, Throwable failure) {
        if (held.attempt() >= this.queue.settings().maxAttempts() || isFinal(failure)) {
            this.settlement.deadLetter(held, failure, true);
        }
        else {
            this.settlement.retry(held, failure);
        }
        return End.SETTLED;
    }

    private End decided(InFlightMessage held, HandlerDelivery.@Nullable Decision decision) {
        if (decision instanceof HandlerDelivery.GiveBack wish) {
            this.settlement.release(held, wish.delay());
            return End.SETTLED;
        }
        if (decision instanceof HandlerDelivery.Die wish) {
            this.settlement.deadLetter(held, wish.reason());
            return End.SETTLED;
        }
        return End.ACKNOWLEDGE;
    }

    private Throwable timeoutException(Throwable failure) {
        Duration timeout = this.queue.settings().timeout();
        HandlerTimeoutException exception = new HandlerTimeoutException((timeout != null) ? timeout : Duration.ZERO);
        exception.addSuppressed(failure);
        return exception;
    }

    private boolean isFinal(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = StoreFutures.wrapped(cause)) {
            for (Class<? extends Throwable> type : this.queue.settings().noRetryFor()) {
                if (type.isInstance(cause)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Receives each message once it is settled or ready to be acknowledged. */
    @FunctionalInterface
    interface Finish {

        void finished(InFlightMessage held, boolean acknowledge);

    }

    private enum End {

        /** Handled; the loop acknowledges it. */
        ACKNOWLEDGE,

        /** Settled in another way, or left to its lease. */
        SETTLED,

        /** The handler's future determines the end. */
        LATER

    }

    /**
     * Holds a handler that is running.
     *
     * @param held the message
     * @param delivery the handler's view of the message
     * @param startedAt when it was about to start, by the monotonic clock
     */
    private record Handling(InFlightMessage held, HandlerDelivery delivery, long startedAt) {
    }

}
