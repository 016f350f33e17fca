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
 * Logs and counts the outcomes of single messages of a listener's loops, and logs the
 * loops' failures. Writes on another thread, as a blocking appender would block the
 * caller, which may be the client's thread.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class PollLoopLog {

    private static final Logger logger = LoggerFactory.getLogger(PollLoopLog.class);

    private static final long REPEAT = Duration.ofMinutes(1).toNanos();

    private static final long NEVER = Long.MIN_VALUE;

    private final PartitionListener endpoint;

    private final ListenerRuntime runtime;

    private final AtomicLong noThreadAt = new AtomicLong(NEVER);

    PollLoopLog(PartitionListener endpoint, ListenerRuntime runtime) {
        this.endpoint = endpoint;
        this.runtime = runtime;
    }

    /** Logs dead letters that a claim reported, and publishes their events. */
    void deadLettered(List<DeadLetterEvent> deadLetters) {
        this.endpoint.expirations().note(deadLetters);
        for (DeadLetterEvent deadLetter : deadLetters) {
            this.endpoint.deadLettered();
            if (!ExpiredMessagesLog.isExpired(deadLetter)) {
                this.runtime.log(() -> logger.error("Message '{}' of queue '{}' is dead-lettered: {}", deadLetter.id(),
                        deadLetter.queue(), deadLetter.reason()));
            }
        }
        this.runtime.publishAsync(deadLetters);
    }

    /**
     * Counts and logs a rejected renewal or settlement, once per lease, as later ones add
     * nothing.
     * @param what the rejected operation, as the end of a sentence
     */
    void leaseLost(InFlightMessage inFlight, String what) {
        if (!inFlight.reportLoss()) {
            this.runtime
                .log(() -> logger.debug("Message '{}' of queue '{}' has outlived its lease, as was logged; here {}",
                        inFlight.lease().id(), inFlight.lease().queue(), what));
            return;
        }
        this.endpoint.leaseLost();
        this.runtime.log(() -> logger.warn(
                "Message '{}' of queue '{}' outlived its lease on attempt {}, so that it may be handled again; here {}",
                inFlight.lease().id(), inFlight.lease().queue(), inFlight.attempt(), what));
    }

    void failed(Throwable failure, Duration wait) {
        this.runtime.log(() -> logger.error("Poll loop of listener '{}' on queue '{}' failed; it continues in {}",
                this.endpoint.listenerId(), this.endpoint.queue(), Texts.span(wait), failure));
    }

    /**
     * Logs that claimed messages cannot be dispatched. At most once a minute, as an
     * executor of the application may reject handlers while it is busy.
     */
    void noThread(Throwable failure) {
        long now = this.runtime.now();
        long last = this.noThreadAt.get();
        if ((last != NEVER && now - last < REPEAT) || !this.noThreadAt.compareAndSet(last, now)) {
            this.runtime.log(() -> logger.debug("No thread still for the handlers of listener '{}' on queue '{}': {}",
                    this.endpoint.listenerId(), this.endpoint.queue(), failure.toString()));
        }
        else if (failure instanceof RejectedExecutionException) {
            this.runtime.log(() -> logger.warn(
                    "The executor rejects the handlers of listener '{}' on queue '{}'; the messages are given back, "
                            + "and claimed again by this node or another: {}",
                    this.endpoint.listenerId(), this.endpoint.queue(), failure.toString()));
        }
        else {
            this.runtime.log(() -> logger.error(
                    "No thread for the handlers of listener '{}' on queue '{}'; its messages are given back",
                    this.endpoint.listenerId(), this.endpoint.queue(), failure));
        }
    }

    /** Logs that the loop ends while handlers run. */
    void outlived(int handlers) {
        this.runtime.log(() -> logger.warn(
                "{} of listener '{}' on queue '{}' did not end within the shutdown timeout; if the application stops, an "
                        + "interrupt follows. A message whose handler runs on may be handled again, unless the "
                        + "handler ends within the lease",
                Texts.count(handlers, "handler"), this.endpoint.listenerId(), this.endpoint.queue()));
    }

    /** Logs how many messages have expired, at intervals. */
    void summarize() {
        expired(this.endpoint.expirations().take(this.runtime.now()));
    }

    /** Logs the remaining expired messages when the loop ends. */
    void close() {
        expired(this.endpoint.expirations().takeAll());
    }

    private void expired(long messages) {
        if (messages > 0) {
            String line = this.endpoint.expirations()
                .text(messages, this.endpoint.queue(), this.endpoint.settings().expiryPolicy());
            this.runtime.log(() -> logger.warn(line));
        }
    }

}
