package io.delayqueue.listener.handler;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records whether a system that a handler needs is available, such as a broker. While it
 * is not, one message at a time is handled as a probe, with growing waits between the
 * probes; the first confirmed probe ends the outage. The begin of an outage is logged, at
 * most once a minute, and its end.
 * <p>
 * Thread-safe; each method holds the lock briefly, and logs without it: loops check on
 * the thread of the client, which a log that blocks must not stall.
 */
public final class HandlerAvailability {

    private static final Logger logger = LoggerFactory.getLogger(HandlerAvailability.class);

    static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);

    static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    /** How often a loop checks whether the probe has ended. */
    static final Duration PROBE_CHECK = Duration.ofMillis(100);

    private static final int MAX_CAUSE = 300;

    /**
     * An outage is unknown once no message has been tried for this long, because none
     * waits any more.
     */
    private static final long UNKNOWN_AFTER = Duration.ofMinutes(1).toNanos();

    private static final long REPEAT = Duration.ofMinutes(1).toNanos();

    private final String subject;

    private final String action;

    private final LongSupplier nanoTime;

    /** Whether the last probe was confirmed, and no message has failed since then. */
    private boolean available;

    private boolean probing;

    private int failures;

    private long resumeAt;

    private long failedSince;

    private String lastFailure = "";

    private boolean warned;

    private long warnedAt;

    /**
     * Creates an instance that begins with a probe.
     * @param subject the messages of the handler, for the log
     * @param action the passive verb of the handling, for the log, such as "forwarded"
     */
    public HandlerAvailability(String subject, String action, LongSupplier nanoTime) {
        this.subject = subject;
        this.action = action;
        this.nanoTime = nanoTime;
        this.resumeAt = nanoTime.getAsLong();
        this.warnedAt = nanoTime.getAsLong() - REPEAT;
    }

    /** Returns how long no message should be claimed; zero if one may be handled. */
    public synchronized Duration untilAvailable() {
        if (this.available) {
            return Duration.ZERO;
        }
        return this.probing ? PROBE_CHECK : Duration.ofNanos(Math.max(0, this.resumeAt - this.nanoTime.getAsLong()));
    }

    public synchronized boolean isAvailable() {
        return this.available;
    }

    /**
     * Returns the outage that lasts; {@code null} if there is none. There is none before
     * the first probe has ended, or if no message has been tried for a minute although
     * one could have been.
     */
    public synchronized @Nullable HandlerOutage outage() {
        return (this.failures == 0 || isUnknown()) ? null
                : new HandlerOutage("%s cannot be %s".formatted(this.subject, this.action), this.lastFailure,
                        Duration.ofNanos(this.nanoTime.getAsLong() - this.failedSince));
    }

    private boolean isUnknown() {
        return !this.probing && this.nanoTime.getAsLong() - this.resumeAt > UNKNOWN_AFTER;
    }

    /** Decides whether a message may be handled now, and whether it is the probe. */
    public synchronized Attempt begin() {
        if (this.available) {
            return Attempt.ORDINARY;
        }
        if (this.probing || this.resumeAt - this.nanoTime.getAsLong() > 0) {
            return Attempt.REJECTED;
        }
        if (isUnknown()) {
            this.failures = 0;
            this.warned = false;
        }
        this.probing = true;
        return Attempt.PROBE;
    }

    /** Records that the system was available for a message. */
    public void confirmed(Attempt attempt) {
        Duration outage = (attempt == Attempt.PROBE) ? endOutage() : null;
        if (outage != null) {
            logger.info("{} are {} again, after {}", this.subject, this.action, Texts.span(outage));
        }
    }

    /** Returns how long the outage was; {@code null} if its begin was not logged. */
    private synchronized @Nullable Duration endOutage() {
        this.probing = false;
        this.available = true;
        this.failures = 0;
        boolean logged = this.warned;
        this.warned = false;
        return logged ? Duration.ofNanos(this.nanoTime.getAsLong() - this.failedSince) : null;
    }

    /** Records that the message failed for a reason that concerns no other message. */
    public synchronized void failed(Attempt attempt) {
        if (attempt == Attempt.PROBE) {
            this.probing = false;
        }
    }

    /** Records that the system was unavailable for the message. */
    public void unavailable(Attempt attempt, Throwable cause) {
        if (beginOutage(attempt, cause)) {
            logger.warn("{} cannot be {}; they wait, no attempt counts, and one at a time is tried until it succeeds",
                    this.subject, this.action, cause);
        }
        else {
            logger.debug("{} still cannot be {}", this.subject, this.action, cause);
        }
    }

    /** Begins or prolongs an outage; returns whether to log its begin. */
    private synchronized boolean beginOutage(Attempt attempt, Throwable cause) {
        if (attempt == Attempt.PROBE) {
            this.probing = false;
        }
        else if (!this.available) {
            return false;
        }
        long now = this.nanoTime.getAsLong();
        if (this.failures == 0) {
            this.failedSince = now;
        }
        this.available = false;
        this.failures++;
        this.lastFailure = Texts.line(String.valueOf(cause.getMessage()), MAX_CAUSE);
        long wait = SHORTEST_WAIT.toNanos() << Math.min(this.failures - 1, 10);
        this.resumeAt = now + Math.min(wait, LONGEST_WAIT.toNanos());
        boolean news = !this.warned && now - this.warnedAt >= REPEAT;
        if (news) {
            this.warned = true;
            this.warnedAt = now;
        }
        return news;
    }

    /** Describes a permission to handle a message. */
    public enum Attempt {

        /** The system was available before. */
        ORDINARY,

        /** The message shows whether the system is available again. */
        PROBE,

        /** The message must not be handled now. */
        REJECTED

    }

}
