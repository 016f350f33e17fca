package io.delayqueue.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What a wake-up says. Times are spans from when it was sent, so that no clock of a
 * process takes part; the way here only makes them late. The signals of a partition come
 * in the order in which things happened.
 *
 * @param kind what happened
 * @param in when it concerns the listener; {@code null} if nothing is known
 * @param keeper who looked; {@code null} unless somebody did
 */
public record WakeUpSignal(Kind kind, @Nullable Duration in, @Nullable Keeper keeper) {

    /** Something may be due now, or may have been missed. */
    public static final WakeUpSignal LOOK = new WakeUpSignal(Kind.LOOK, Duration.ZERO, null);

    /** The partition has no keeper any more. */
    public static final WakeUpSignal VACANT = new WakeUpSignal(Kind.VACANT, null, null);

    /** A message is due after a while. */
    public static WakeUpSignal due(Duration in) {
        return new WakeUpSignal(Kind.DUE, in, null);
    }

    /**
     * The keeper has looked.
     * @param in when there is more to claim; {@code null} if the queue is empty
     */
    public static WakeUpSignal kept(@Nullable Duration in, Keeper keeper) {
        return new WakeUpSignal(Kind.KEPT, in, keeper);
    }

    /** The kinds of signals. */
    public enum Kind {

        /** Look now. */
        LOOK,

        /** A message is due after {@link WakeUpSignal#in()}. */
        DUE,

        /** The keeper has looked, and will again after {@link WakeUpSignal#in()}. */
        KEPT,

        /** The keeper has no room or has left: nobody hurries. */
        VACANT

    }

    /**
     * Who keeps a partition.
     *
     * @param node names the node
     * @param load how many partitions it keeps
     */
    public record Keeper(String node, int load) {
    }

}
