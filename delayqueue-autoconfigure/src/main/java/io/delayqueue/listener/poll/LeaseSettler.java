package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Texts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles messages in every way but acknowledgement, which the loop does. Retries while
 * the lease lasts if the store does not answer, which is no failure of the handler.
 * <p>
 * <strong>Threads.</strong> Handler threads, which wait here for the store.
 */
final class LeaseSettler {

    private static final Logger logger = LoggerFactory.getLogger(LeaseSettler.class);

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final MessageStore store;

    private final PollLoopLog log;

    LeaseSettler(ListenerEndpoint queue, ListenerRuntime context) {
        this.queue = queue;
        this.context = context;
        this.store = context.store();
        this.log = new PollLoopLog(queue, context);
    }

    /**
     * Records the start of a redelivered message; {@code false} if it must not start.
     */
    boolean start(InFlightMessage held) {
        Lease lease = held.lease();
        try {
            boolean recorded = StoreFutures.send(() -> this.store.start(lease)).join();
            if (!recorded) {
                this.log.refused(held, "its handler was to start");
            }
            return recorded;
        }
        catch (RuntimeException ex) {
            logger.warn("Cannot start the handler of message '{}' of queue '{}'; it is handled when its lease runs "
                    + "out: {}", lease.id(), lease.queue(), StoreFutures.unwrap(ex).toString());
            return false;
        }
    }

    /** Gives the message back without counting an attempt. */
    void release(InFlightMessage held, Duration delay) {
        settle(held, () -> this.store.release(held.lease().partition(), List.of(held.lease()), delay)
            .thenApply((answers) -> answers.get(0)), "was to be given back");
    }

    /** Releases a lease that has run out here, in case it has not in the store. */
    void giveBackLate(InFlightMessage held) {
        logger.debug("Message '{}' of queue '{}' waited longer than its lease for its handler and is given back",
                held.lease().id(), held.lease().queue());
        StoreFutures.send(() -> this.store.release(held.lease().partition(), List.of(held.message().dueLease())));
    }

    /** Gives back a message whose handler the stop interrupted, which is no failure. */
    void giveBackInterrupted(InFlightMessage held, Throwable failure) {
        logger.warn(
                "The handler of message '{}' of queue '{}' outlived the shutdown timeout and was interrupted on "
                        + "attempt {}; the message is given back and the attempt does not count: {}",
                held.lease().id(), held.lease().queue(), held.attempt(), FailureSummary.line(failure));
        release(held, Duration.ZERO);
    }

    /** Removes a message that must no longer be handled. */
    void drop(InFlightMessage held) {
        settle(held, () -> this.store.acknowledge(held.lease().partition(), List.of(held.lease()))
            .thenApply((answers) -> answers.get(0)), "has expired");
    }

    /** Makes the message due again because its handler failed. */
    void retry(InFlightMessage held, Throwable failure) {
        Duration delay = this.queue.settings().retryPolicy().delayAfter(held.attempt(), this.context::random);
        String line = FailureSummary.line(failure);
        if (settle(held, () -> this.store.retry(held.lease(), delay, line), "failed with " + line) == Answer.DONE) {
            this.queue.retried();
            Lease lease = held.lease();
            logger.warn("Message '{}' of queue '{}' failed on attempt {} and is due again in {}: {}", lease.id(),
                    lease.queue(), held.attempt(), Texts.span(delay), line);
            logger.debug("Message '{}' failed", lease.id(), failure);
        }
    }

    /**
     * Dead-letters the message because of an exception.
     * @param failed whether the handler threw it
     */
    void deadLetter(InFlightMessage held, Throwable failure, boolean failed) {
        String line = FailureSummary.line(failure);
        if (deadLetter(held, FailureSummary.cause(failure), failed, line)) {
            logger.error("Message '{}' of queue '{}' is dead after attempt {}: {}", held.lease().id(),
                    held.lease().queue(), held.attempt(), line, failed ? failure : null);
            publish(held, failed, line);
        }
    }

    /** Dead-letters the message for a reason that is no exception. */
    void deadLetter(InFlightMessage held, String reason) {
        String cause = FailureSummary.cut(reason, FailureSummary.MAX_CAUSE);
        if (deadLetter(held, cause, false, cause)) {
            logger.error("Message '{}' of queue '{}' is dead on attempt {}: {}", held.lease().id(),
                    held.lease().queue(), held.attempt(), cause);
            publish(held, false, cause);
        }
    }

    /** Dead-letters an expired message; such messages are logged together. */
    void expire(InFlightMessage held) {
        if (deadLetter(held, "expired", false, "expired")) {
            publish(held, false, "expired");
        }
    }

    private boolean deadLetter(InFlightMessage held, String cause, boolean failed, String line) {
        DeadLetterReason death = new DeadLetterReason(cause, failed, held.message().dueAt());
        Answer answer = settle(held, () -> this.store.deadLetter(held.lease(), death), "was to die of: " + line);
        if (answer == Answer.DONE) {
            this.queue.died();
        }
        return answer == Answer.DONE;
    }

    private void publish(InFlightMessage held, boolean failed, String reason) {
        Lease lease = held.lease();
        this.context.tell(new DeadLetterEvent(lease.queue().value(), lease.id(), lease.letterId(),
                held.message().failures() + (failed ? 1 : 0), reason));
    }

    private Answer settle(InFlightMessage held, Supplier<CompletableFuture<Boolean>> call, String what) {
        held.settling(true);
        Lease lease = held.lease();
        int failures = 0;
        while (true) {
            try {
                if (StoreFutures.send(call).join()) {
                    return Answer.DONE;
                }
                this.log.refused(held, "it " + what);
                return Answer.REFUSED;
            }
            catch (RuntimeException ex) {
                failures++;
                Throwable cause = StoreFutures.unwrap(ex);
                if (!mayTryAgain(held, cause, failures)) {
                    logger.warn("Cannot settle message '{}' of queue '{}', which {}; it may be handled again when "
                            + "its lease runs out: {}", lease.id(), lease.queue(), what, cause.toString());
                    return Answer.UNKNOWN;
                }
            }
        }
    }

    private boolean mayTryAgain(InFlightMessage held, Throwable cause, int failures) {
        held.stopRenewing();
        if (!(cause instanceof StoreUnavailableException)) {
            return false;
        }
        Duration wait = PollLoop.STORE_BACKOFF.delayAfter(failures, this.context::random);
        if (held.nanosLeft(this.context.now()) <= wait.toNanos()) {
            return false;
        }
        this.context.timer().pause(wait);
        return held.isLive(this.context.now());
    }

    private enum Answer {

        DONE, REFUSED, UNKNOWN

    }

}
