package io.delayqueue.listener.poll;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** Turns exceptions that calls of the store throw into failed futures. */
public final class StoreFutures {

    private StoreFutures() {
    }

    public static <T> CompletableFuture<T> send(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        }
        catch (Throwable ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    /** Returns the cause without the wrappers of futures and reflection. */
    static Throwable unwrap(Throwable failure) {
        Throwable cause = failure;
        Throwable inner = wrapped(cause);
        while (inner != null) {
            cause = inner;
            inner = wrapped(cause);
        }
        return cause;
    }

    /** Returns the cause of a wrapper; {@code null} if this is none. */
    static @Nullable Throwable wrapped(Throwable failure) {
        boolean wrapper = failure instanceof CompletionException || failure instanceof ExecutionException
                || failure instanceof InvocationTargetException || failure instanceof UndeclaredThrowableException;
        return wrapper ? failure.getCause() : null;
    }

}
