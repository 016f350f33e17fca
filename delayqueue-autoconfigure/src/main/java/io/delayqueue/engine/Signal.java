package io.delayqueue.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What a wake-up says. Times are spans from when it was sent, so that no clock of a
 * process takes part; the way here only makes them late.
 *
 * @param kind what happened
 * @param in when it concerns the listener; {@code null} if nothing is known
 */
public record Signal(Kind kind, @Nullable Duration in) {

    /** Something may be due now, or may have been missed. */
    public static final Signal LOOK = new Signal(Kind.LOOK, Duration.ZERO);

    /** A message is due after a while. */
    public static Signal due(Duration in) {
        return new Signal(Kind.DUE, in);
    }

    /** The kinds of signals. */
    public enum Kind {

        /** Look now. */
        LOOK,

        /** A message is due after {@link Signal#in()}. */
        DUE

    }

}
