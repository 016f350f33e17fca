package io.delayqueue.store;

import java.util.concurrent.CompletionException;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * What remains unknown when a call is made again: whether an earlier one took effect,
 * however clear the later failure is.
 */
public final class UncertainEffects {

    private UncertainEffects() {
    }

    /** Whether a call that failed so may have taken effect. */
    public static boolean isIn(Throwable failure) {
        return unwrap(failure) instanceof DelayQueueException known && known.effect() == Effect.UNKNOWN;
    }

    /**
     * What the last of several calls failed by.
     * @param doubtful whether an earlier one may have taken effect
     */
    public static Throwable keep(boolean doubtful, Throwable last) {
        Throwable cause = unwrap(last);
        if (!doubtful || !(cause instanceof DelayQueueException known) || known.effect() != Effect.NONE) {
            return last;
        }
        String message = "It was tried before, and that may have taken effect; the last time: " + known.getMessage();
        return (known instanceof StoreRefusedException)
                ? new StoreRefusedException(message, Effect.UNKNOWN, beneath(known))
                : new StoreUnavailableException(message, Effect.UNKNOWN, beneath(known));
    }

    /**
     * The failure of a call that came before a change, and so was without effect.
     * @param context what the call was for, which the message begins with
     */
    public static Throwable none(String context, Throwable failure) {
        Throwable cause = unwrap(failure);
        String message = context + ": " + cause.getMessage();
        return (cause instanceof StoreUnavailableException)
                ? new StoreUnavailableException(message, Effect.NONE, beneath(cause))
                : (cause instanceof StoreRefusedException)
                        ? new StoreRefusedException(message, Effect.NONE, beneath(cause)) : cause;
    }

    /**
     * The cause of a failure that takes the place of another one and says what that said:
     * one exception of the library in a stack trace is enough.
     */
    public static @Nullable Throwable beneath(Throwable replaced) {
        return (replaced instanceof DelayQueueException) ? replaced.getCause() : replaced;
    }

    private static Throwable unwrap(Throwable failure) {
        return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
    }

}
