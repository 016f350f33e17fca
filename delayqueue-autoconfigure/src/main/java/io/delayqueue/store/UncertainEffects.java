package io.delayqueue.store;

import java.util.concurrent.CompletionException;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Tracks whether an earlier attempt of a repeated call may have taken effect, even if the
 * last attempt clearly failed.
 */
public final class UncertainEffects {

    private UncertainEffects() {
    }

    /** Returns whether a call with this failure may have taken effect. */
    public static boolean isIn(Throwable failure) {
        return unwrap(failure) instanceof DelayQueueException known && known.effect() == Effect.UNKNOWN;
    }

    /**
     * Returns the failure of the last attempt, with the effect of all attempts.
     * @param doubtful whether an earlier attempt may have taken effect
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
     * Returns the failure of a call that preceded a change and therefore had no effect.
     * @param context the purpose of the call, with which the message begins
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
     * Returns the cause for an exception that replaces another one and repeats its
     * message, so that a stack trace contains only one exception of the library.
     */
    public static @Nullable Throwable beneath(Throwable replaced) {
        return (replaced instanceof DelayQueueException) ? replaced.getCause() : replaced;
    }

    private static Throwable unwrap(Throwable failure) {
        return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
    }

}
