package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.ErrorDecision;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retries, releases, expires and dead-letters messages, and logs the outcome; the loop
 * acknowledges. While the store is unavailable, settlements are retried until the lease
 * ends.
 * <p>
 * <strong>Threads.</strong> Runs on the thread that handled the message, which waits here
 * for the store. Stateless.
 */
final class MessageSettler {

    private static final Logger logger = LoggerFactory.getLogger(MessageSettler.class);

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final PollLoopLog log;

    MessageSettler(PartitionBinding binding, PollLoopContext context) {
        this.binding = binding;
        this.context = context;
        this.log = new PollLoopLog(binding, context);
    }

    /** Drops or dead-letters a message whose time to live is over. */
    void expired(InFlightMessage inFlight) {
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
    }

    /**
     * Releases the message without counting an attempt.
     * @return whether the store has confirmed it
     */
    boolean release(InFlightMessage inFlight, Duration delay) {
        return settle(inFlight,
                () -> this.context.store()
                    .release(inFlight.lease().partition(), List.of(inFlight.lease()), delay)
                    .thenApply((answers) -> answers.get(0)),
                "was to be released");
    }

    /**
     * Releases a message that cannot be handled now; no attempt counts. If that is true
     * of all messages, it keeps its due time, as if its handler had not started, so that
     * the order of messages does not change.
     */
    void releaseUnavailable(InFlightMessage inFlight, HandlerUnavailableException failure) {
        Lease lease = inFlight.lease();
        String line = FailureSummary.line(failure);
        Duration delay = failure.delay();
        if (delay != null) {
            logger.warn(
                    "Message '{}' of queue '{}' cannot be handled now, and is due again in {}; no attempt counts: {}",
                    lease.id(), lease.queue(), Texts.span(delay), line);
            release(inFlight, delay);
            return;
        }
        logger.debug("Message '{}' of queue '{}' is released, as its handler is unavailable: {}", lease.id(),
                lease.queue(), line);
        settle(inFlight,
                () -> this.context.store()
                    .release(lease.partition(), List.of(inFlight.message().unstartedLease()))
                    .thenApply((answers) -> answers.get(0)),
                "was to be released");
    }

    /** Releases a lease that has run out here, in case it has not in the store. */
    void releaseLate(InFlightMessage inFlight) {
        logger.debug("Message '{}' of queue '{}' waited longer than its lease for its handler and is released",
                inFlight.lease().id(), inFlight.lease().queue());
        releaseUnstarted(inFlight);
    }

    /**
     * Releases a message whose handler does not start, without waiting for the answer. If
     * that fails, the message is handled when its lease runs out.
     */
    void releaseUnstarted(InFlightMessage inFlight) {
        Lease lease = inFlight.lease();
        inFlight.settling(true);
        inFlight.stopRenewing();
        StoreFutures
            .send(() -> this.context.store().release(lease.partition(), List.of(inFlight.message().unstartedLease())));
    }

    /** Settles a message whose handler failed. */
    void failed(InFlightMessage inFlight, ErrorDecision decision, Throwable failure) {
        if (!returned(inFlight, decision, failure)) {
            String reason = reason(decision);
            deadLetter(inFlight, (reason != null) ? reason : FailureSummary.cause(failure),
                    (reason != null) ? reason : FailureSummary.line(failure), failure);
        }
    }

    /** Settles a message that its handler cannot read, so that no attempt has begun. */
    void unreadable(InFlightMessage inFlight, ErrorDecision decision, Throwable failure) {
        if (!returned(inFlight, decision, failure)) {
            String reason = reason(decision);
            deadLetter(inFlight, (reason != null) ? reason : FailureSummary.cause(failure),
                    (reason != null) ? reason : FailureSummary.line(failure), null);
        }
    }

    private static @Nullable String reason(ErrorDecision decision) {
        String reason = (decision instanceof ErrorDecision.DeadLetter deadLetter) ? deadLetter.reason() : null;
        return (reason != null) ? Texts.cut(reason, FailureSummary.MAX_CAUSE) : null;
    }

    /** Returns the message to the queue; {@code false} if it is to be dead-lettered. */
    private boolean returned(InFlightMessage inFlight, ErrorDecision decision, Throwable failure) {
        if (decision instanceof ErrorDecision.Retry retry) {
            Duration delay = retry.delay();
            retry(inFlight,
                    (delay != null) ? delay
                            : this.binding.settings().backoff().delayAfter(inFlight.attempt(), this.context::random),
                    failure);
            return true;
        }
        if (decision instanceof ErrorDecision.Release release) {
            if (release(inFlight, release.delay())) {
                logger.warn(
                        "Message '{}' of queue '{}' failed on attempt {}, which does not count, as its error handler "
                                + "has released it; it is due again in {}: {}",
                        inFlight.lease().id(), inFlight.lease().queue(), inFlight.attempt(),
                        Texts.span(release.delay()), FailureSummary.line(failure));
            }
            return true;
        }
        return false;
    }

    private void retry(InFlightMessage inFlight, Duration delay, Throwable failure) {
        String line = FailureSummary.line(failure);
        Lease lease = inFlight.lease();
        if (settle(inFlight, () -> this.context.store().retry(lease, delay, line), "failed with " + line)) {
            this.binding.retried();
            logger.warn("Message '{}' of queue '{}' failed on attempt {} and is due again in {}: {}", lease.id(),
                    lease.queue(), inFlight.attempt(), Texts.span(delay), line);
            logger.debug("Message '{}' failed", lease.id(), failure);
        }
    }

    /** Dead-letters the message for a reason other than a failure of its handler. */
    void deadLetter(InFlightMessage inFlight, String reason) {
        String cause = Texts.cut(reason, FailureSummary.MAX_CAUSE);
        deadLetter(inFlight, cause, cause, null);
    }

    /**
     * Dead-letters the message.
     * @param failure the exception of the handler, if it failed
     */
    private void deadLetter(InFlightMessage inFlight, String cause, String line, @Nullable Throwable failure) {
        boolean failed = failure != null;
        if (storeDeadLetter(inFlight, cause, failed, line)) {
            logger.error("Message '{}' of queue '{}' is dead-lettered on attempt {}: {}", inFlight.lease().id(),
                    inFlight.lease().queue(), inFlight.attempt(), line, failure);
            publishDeadLetter(inFlight, failed, line);
        }
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
        // An interrupt ends each pause at once, so retries would follow without a pause.
        return !Thread.currentThread().isInterrupted() && inFlight.isLive(this.context.now());
    }

}
