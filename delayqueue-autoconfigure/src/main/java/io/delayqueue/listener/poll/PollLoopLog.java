package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.store.ExpiredMessagesLog;
import io.delayqueue.store.Texts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs and counts lost leases and the dead letters that claims report, and logs failures
 * of the loop. Writes on another thread, as a blocking appender would block the caller,
 * which may be the client's thread.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class PollLoopLog {

    private static final Logger logger = LoggerFactory.getLogger(PollLoopLog.class);

    private static final long REPEAT = Duration.ofMinutes(1).toNanos();

    private static final long NEVER = Long.MIN_VALUE;

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final AtomicLong noThreadAt = new AtomicLong(NEVER);

    PollLoopLog(PartitionBinding binding, PollLoopContext context) {
        this.binding = binding;
        this.context = context;
    }

    /** Logs dead letters that a claim reported, and publishes their events. */
    void deadLettered(List<DeadLetterEvent> deadLetters) {
        this.binding.expirations().note(deadLetters);
        for (DeadLetterEvent deadLetter : deadLetters) {
            this.binding.deadLettered();
            if (!ExpiredMessagesLog.isExpired(deadLetter)) {
                this.context.log(() -> logger.error("Message '{}' of queue '{}' is dead-lettered: {}", deadLetter.id(),
                        deadLetter.queue(), deadLetter.reason()));
            }
        }
        this.context.publishAsync(deadLetters);
    }

    /**
     * Counts and logs a rejected renewal or settlement, once per lease, as later ones add
     * nothing.
     * @param what the rejected operation, as the end of a sentence
     */
    void leaseLost(InFlightMessage inFlight, String what) {
        if (!inFlight.reportLoss()) {
            this.context
                .log(() -> logger.debug("Message '{}' of queue '{}' has outlived its lease, as was logged; here {}",
                        inFlight.lease().id(), inFlight.lease().queue(), what));
            return;
        }
        this.binding.leaseLost();
        this.context.log(() -> logger.warn(
                "Message '{}' of queue '{}' outlived its lease on attempt {}, so that it may be handled again; here {}",
                inFlight.lease().id(), inFlight.lease().queue(), inFlight.attempt(), what));
    }

    void failed(Throwable failure, Duration wait) {
        this.context.log(() -> logger.error("Poll loop of listener '{}' on queue '{}' failed; it continues in {}",
                this.binding.listenerId(), this.binding.queue(), Texts.span(wait), failure));
    }

    /**
     * Logs that claimed messages cannot be dispatched. At most once a minute, as an
     * executor of the application may reject handlers while it is busy.
     */
    void noThread(Throwable failure) {
        long now = this.context.now();
        long last = this.noThreadAt.get();
        if ((last != NEVER && now - last < REPEAT) || !this.noThreadAt.compareAndSet(last, now)) {
            this.context.log(() -> logger.debug("No thread still for the handlers of listener '{}' on queue '{}': {}",
                    this.binding.listenerId(), this.binding.queue(), failure.toString()));
        }
        else if (failure instanceof RejectedExecutionException) {
            this.context.log(() -> logger.warn(
                    "The executor rejects the handlers of listener '{}' on queue '{}'; the messages are released, "
                            + "and claimed again by this node or another: {}",
                    this.binding.listenerId(), this.binding.queue(), failure.toString()));
        }
        else {
            this.context.log(() -> logger.error(
                    "No thread for the handlers of listener '{}' on queue '{}'; its messages are released",
                    this.binding.listenerId(), this.binding.queue(), failure));
        }
    }

    /** Logs that the loop ends while handlers run. */
    void outlived(int handlers) {
        this.context.log(() -> logger.warn(
                "{} of listener '{}' on queue '{}' did not end within the shutdown timeout; an interrupt or a cancellation "
                        + "follows, except for futures. A message whose handler runs on may be handled again, unless "
                        + "the handler ends within the lease",
                Texts.count(handlers, "handler"), this.binding.listenerId(), this.binding.queue()));
    }

    /** Logs how many messages have expired, at intervals. */
    void summarize() {
        expired(this.binding.expirations().take(this.context.now()));
    }

    /** Logs the remaining expired messages when the loop ends. */
    void close() {
        expired(this.binding.expirations().takeAll());
    }

    private void expired(long messages) {
        if (messages > 0) {
            String line = this.binding.expirations()
                .text(messages, this.binding.queue(), this.binding.settings().expiryPolicy());
            this.context.log(() -> logger.warn(line));
        }
    }

}
