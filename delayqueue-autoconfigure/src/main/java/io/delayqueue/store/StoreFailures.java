package io.delayqueue.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Tracks whether an earlier attempt of a repeated call may have taken effect, even if the
 * last attempt clearly failed.
 */
public final class StoreFailures {

    private StoreFailures() {
    }

    /** Returns whether a call with this failure has taken effect, or may have. */
    public static boolean mayHaveTakenEffect(Throwable failure) {
        return unwrap(failure) instanceof DelayQueueException known && known.effect() != Effect.NONE;
    }

    /**
     * Returns the failure of the last attempt, with the effect of all attempts.
     * @param doubtful whether an earlier attempt may have taken effect
     */
    public static Throwable ofAttempts(boolean doubtful, Throwable last) {
        Throwable cause = unwrap(last);
        if (!doubtful || !(cause instanceof DelayQueueException known) || known.effect() != Effect.NONE) {
            return last;
        }
        return unknown("It was tried before, and that may have taken effect; the last time: " + known.getMessage(),
                known);
    }

    /**
     * Returns the failure of several calls, whose effect is unknown if some of them may
     * have taken effect.
     */
    public static Throwable ofAll(Collection<? extends CompletableFuture<?>> calls, Throwable failure) {
        boolean none = calls.stream()
            .allMatch((call) -> call.isCompletedExceptionally() && call
                .handle((answer, cause) -> unwrap(cause) instanceof DelayQueueException known
                        && known.effect() == Effect.NONE)
                .join());
        return (none || !(failure instanceof DelayQueueException known)) ? failure : partly(known);
    }

    /**
     * Returns the failure of the last part of a call.
     * @param partly whether an earlier part has taken effect
     */
    public static Throwable ofRest(boolean partly, Throwable failure) {
        return (partly && unwrap(failure) instanceof DelayQueueException known) ? partly(known) : failure;
    }

    /** Returns the failure of a call of which some other part may have taken effect. */
    public static DelayQueueException partly(DelayQueueException failure) {
        if (failure.effect() != Effect.NONE) {
            return failure;
        }
        return unknown(failure.getMessage() + "; of other messages of this call it may have taken effect", failure);
    }

    /**
     * Returns the failure of the last step of a change after an earlier step has taken
     * effect.
     * @param context the effect of the earlier step, with which the message begins
     */
    public static Throwable afterEffect(String context, Throwable failure) {
        return (unwrap(failure) instanceof DelayQueueException known)
                ? unknown(context + "; the last step failed: " + known.getMessage(), known) : failure;
    }

    private static DelayQueueException unknown(String message, DelayQueueException failure) {
        return (failure instanceof StoreRefusedException)
                ? new StoreRefusedException(message, Effect.UNKNOWN, beneath(failure))
                : new StoreUnavailableException(message, Effect.UNKNOWN, beneath(failure));
    }

    /**
     * Returns the failure of a call that preceded a change and therefore had no effect.
     * @param context the purpose of the call, with which the message begins
     */
    public static Throwable withoutEffect(String context, Throwable failure) {
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

    /** Returns the cause of a failed future, without wrappers. */
    public static Throwable unwrap(Throwable failure) {
        Throwable cause = failure;
        Throwable inner = wrapped(cause);
        while (inner != null) {
            cause = inner;
            inner = wrapped(cause);
        }
        return cause;
    }

    /**
     * Returns the cause of a wrapper, as futures and reflection create them; {@code null}
     * if this is none.
     */
    public static @Nullable Throwable wrapped(Throwable failure) {
        boolean wrapper = failure instanceof CompletionException || failure instanceof ExecutionException
                || failure instanceof InvocationTargetException || failure instanceof UndeclaredThrowableException;
        return wrapper ? failure.getCause() : null;
    }

}
