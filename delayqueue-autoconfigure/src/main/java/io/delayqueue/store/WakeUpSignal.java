package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds the content of a wake-up. Spans are relative to when it was sent, so they do not
 * depend on the clock of a process; transmission only delays them. The signals of a
 * partition arrive in the order of their events.
 *
 * @param kind what happened
 * @param in time until the listener should act; {@code null} if unknown
 * @param due the same time by the store's clock, for a listener that knows it: not
 * delayed by transmission; {@code null} if unknown
 * @param primary the primary poller that polled; {@code null} for other kinds
 */
public record WakeUpSignal(Kind kind, @Nullable Duration in, @Nullable Instant due, @Nullable PrimaryPoller primary) {

    /** A message may be due now, or a wake-up may have been missed. */
    public static final WakeUpSignal POLL_NOW = new WakeUpSignal(Kind.POLL_NOW, Duration.ZERO, null, null);

    /** The partition no longer has a primary poller. */
    public static final WakeUpSignal NO_PRIMARY = new WakeUpSignal(Kind.NO_PRIMARY, null, null, null);

    /** Schedules of the queue were changed. */
    public static final WakeUpSignal SCHEDULES_CHANGED = new WakeUpSignal(Kind.SCHEDULES_CHANGED, null, null, null);

    /**
     * Returns the signal that a message will be due.
     * @param due when, by the store's clock; {@code null} if unknown
     */
    public static WakeUpSignal dueIn(Duration in, @Nullable Instant due) {
        return new WakeUpSignal(Kind.DUE_IN, in, due, null);
    }

    /**
     * Returns the signal that the primary poller has polled.
     * @param in time until there is more to claim; {@code null} if the queue is empty
     */
    public static WakeUpSignal primaryPolled(@Nullable Duration in, PrimaryPoller primary) {
        return new WakeUpSignal(Kind.PRIMARY_POLLED, in, null, primary);
    }

    /** Lists the kinds of signals. */
    public enum Kind {

        /** Poll now. */
        POLL_NOW,

        /** A message is due after {@link WakeUpSignal#in()}. */
        DUE_IN,

        /**
         * The primary poller has polled, and will poll again after
         * {@link WakeUpSignal#in()}.
         */
        PRIMARY_POLLED,

        /**
         * The primary poller has no free capacity or has left, so no node polls without
         * delay.
         */
        NO_PRIMARY,

        /**
         * A schedule was added, changed or removed, or the node that fires schedules
         * first has left.
         */
        SCHEDULES_CHANGED

    }

    /**
     * Identifies the primary poller of a partition.
     *
     * @param node the id of the node
     * @param load how many partitions it is the primary poller of
     */
    public record PrimaryPoller(String node, int load) {
    }

}
