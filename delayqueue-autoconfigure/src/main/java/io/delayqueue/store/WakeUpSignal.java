package io.delayqueue.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Holds the content of a wake-up. Times are relative to when it was sent, so they do not
 * depend on the clock of a process; transmission only delays them. The signals of a
 * partition arrive in the order of their events.
 *
 * @param kind what happened
 * @param in time until the listener should act; {@code null} if unknown
 * @param keeper the primary poller that polled; {@code null} for other kinds
 */
public record WakeUpSignal(Kind kind, @Nullable Duration in, @Nullable Keeper keeper) {

    /** A message may be due now, or a wake-up may have been missed. */
    public static final WakeUpSignal LOOK = new WakeUpSignal(Kind.LOOK, Duration.ZERO, null);

    /** The partition no longer has a primary poller. */
    public static final WakeUpSignal VACANT = new WakeUpSignal(Kind.VACANT, null, null);

    /** Returns the signal that a message will be due. */
    public static WakeUpSignal due(Duration in) {
        return new WakeUpSignal(Kind.DUE, in, null);
    }

    /**
     * Returns the signal that the primary poller has polled.
     * @param in time until there is more to claim; {@code null} if the queue is empty
     */
    public static WakeUpSignal kept(@Nullable Duration in, Keeper keeper) {
        return new WakeUpSignal(Kind.KEPT, in, keeper);
    }

    /** Lists the kinds of signals. */
    public enum Kind {

        /** Poll now. */
        LOOK,

        /** A message is due after {@link WakeUpSignal#in()}. */
        DUE,

        /**
         * The primary poller has polled, and will poll again after
         * {@link WakeUpSignal#in()}.
         */
        KEPT,

        /**
         * The primary poller has no free capacity or has left, so no node polls without
         * delay.
         */
        VACANT

    }

    /**
     * Identifies the primary poller of a partition.
     *
     * @param node the id of the node
     * @param load how many partitions it is the primary poller of
     */
    public record Keeper(String node, int load) {
    }

}
