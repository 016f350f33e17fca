package io.delayqueue.forward;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.delayqueue.store.Texts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records whether the broker of a queue confirms messages. While it does not, one message
 * at a time is forwarded as a probe, with growing waits between the probes; the first
 * confirmed probe ends the outage. The begin of an outage is logged, at most once a
 * minute, and its end.
 * <p>
 * <strong>Threads.</strong> Loops ask, handlers and the threads of the broker's client
 * report. Each method holds the lock briefly.
 */
final class BrokerAvailability {

    private static final Logger logger = LoggerFactory.getLogger(BrokerAvailability.class);

    static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);

    static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    /** How often a loop checks whether the probe has ended. */
    static final Duration PROBE_CHECK = Duration.ofMillis(100);

    private static final long REPEAT = Duration.ofMinutes(1).toNanos();

    private final String queue;

    private final String target;

    private final LongSupplier nanoTime;

    /** Whether the last probe was confirmed, and no message has failed since then. */
    private boolean available;

    private boolean probing;

    private int failures;

    private long resumeAt;

    private long failedSince;

    private boolean warned;

    private long warnedAt;

    /**
     * Creates an instance that begins with a probe.
     * @param queue the queue whose messages are forwarded, for the log
     * @param target the broker and the destination on it, for the log
     */
    BrokerAvailability(String queue, String target, LongSupplier nanoTime) {
        this.queue = queue;
        this.target = target;
        this.nanoTime = nanoTime;
        this.resumeAt = nanoTime.getAsLong();
        this.warnedAt = nanoTime.getAsLong() - REPEAT;
    }

    /** Returns how long no message should be claimed; zero if one may be forwarded. */
    synchronized Duration untilAvailable() {
        if (this.available) {
            return Duration.ZERO;
        }
        return this.probing ? PROBE_CHECK : Duration.ofNanos(Math.max(0, this.resumeAt - this.nanoTime.getAsLong()));
    }

    synchronized boolean isAvailable() {
        return this.available;
    }

    /** Decides whether a message may be forwarded now, and whether it is the probe. */
    synchronized Attempt begin() {
        if (this.available) {
            return Attempt.ORDINARY;
        }
        if (this.probing || this.resumeAt - this.nanoTime.getAsLong() > 0) {
            return Attempt.REJECTED;
        }
        this.probing = true;
        return Attempt.PROBE;
    }

    /** Records that the broker has confirmed a message. */
    synchronized void confirmed(Attempt attempt) {
        if (attempt != Attempt.PROBE) {
            return;
        }
        this.probing = false;
        this.available = true;
        this.failures = 0;
        if (this.warned) {
            this.warned = false;
            logger.info("Messages of queue '{}' are forwarded to '{}' again, after {}", this.queue, this.target,
                    Texts.span(Duration.ofNanos(this.nanoTime.getAsLong() - this.failedSince)));
        }
    }

    /** Records that the message failed for a reason that concerns no other message. */
    synchronized void failed(Attempt attempt) {
        if (attempt == Attempt.PROBE) {
            this.probing = false;
        }
    }

    /** Records that the broker could not confirm the message. */
    synchronized void unavailable(Attempt attempt, Throwable cause) {
        if (attempt == Attempt.PROBE) {
            this.probing = false;
        }
        else if (!this.available) {
            return;
        }
        long now = this.nanoTime.getAsLong();
        if (this.failures == 0) {
            this.failedSince = now;
        }
        this.available = false;
        this.failures++;
        long wait = SHORTEST_WAIT.toNanos() << Math.min(this.failures - 1, 10);
        this.resumeAt = now + Math.min(wait, LONGEST_WAIT.toNanos());
        if (this.failures == 1 && now - this.warnedAt >= REPEAT) {
            this.warned = true;
            this.warnedAt = now;
            logger.warn("Messages of queue '{}' cannot be forwarded to '{}'; they wait, no attempt counts, and "
                    + "forwarding is tried again until the broker confirms", this.queue, this.target, cause);
        }
        else {
            logger.debug("Messages of queue '{}' still cannot be forwarded to '{}'", this.queue, this.target, cause);
        }
    }

    /** Describes a permission to forward a message. */
    enum Attempt {

        /** The broker was available when the message was forwarded. */
        ORDINARY,

        /** The message shows whether the broker is available again. */
        PROBE,

        /** The message must not be forwarded now. */
        REJECTED

    }

}
