package io.delayqueue.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Tells from what a client threw whether Redis refused, and whether the effect is known.
 * Works by the words of Redis' error replies, as every client wraps them in classes of
 * its own.
 */
final class RedisFailures {

    /**
     * Error replies that pass by themselves. Redis gives them before it runs a script.
     */
    private static final Set<String> PASSING = Set.of("LOADING", "BUSY", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN",
            "READONLY", "NOREPLICAS", "MOVED", "ASK");

    private static final Set<String> REFUSALS = Set.of("ERR", "OOM", "NOPERM", "NOAUTH", "WRONGPASS", "WRONGTYPE",
            "MISCONF", "NOSCRIPT", "CROSSSLOT", "EXECABORT", "UNKILLABLE");

    private RedisFailures() {
    }

    /** Whether the server does not know the script that was named by its digest. */
    static boolean isUnknownScript(Throwable failure) {
        return "NOSCRIPT".equals(errorCode(failure));
    }

    static DelayQueueException translate(RedisScript script, Throwable failure, Duration limit) {
        if (failure instanceof DelayQueueException known) {
            return known;
        }
        if (failure instanceof TimeoutException || failure instanceof CancellationException) {
            return new StoreUnavailableException(
                    ("No answer from Redis to '%s' within %d ms; the operation may or may " + "not have taken effect")
                        .formatted(script.name(), limit.toMillis()),
                    Effect.UNKNOWN, failure);
        }
        String code = errorCode(failure);
        if (code != null && PASSING.contains(code)) {
            return new StoreUnavailableException(
                    "Redis cannot run '%s' now: %s; nothing was changed".formatted(script.name(), errorText(failure)),
                    Effect.NONE, failure);
        }
        if (code != null && REFUSALS.contains(code)) {
            return new StoreRefusedException(
                    "Redis refused '%s': %s; nothing was changed".formatted(script.name(), errorText(failure)),
                    failure);
        }
        return new StoreUnavailableException(
                "The connection to Redis failed during '%s': %s; the operation may or may not have taken effect"
                    .formatted(script.name(), failure),
                Effect.UNKNOWN, failure);
    }

    static DelayQueueException notConnected(Throwable failure) {
        return new StoreUnavailableException(
                "No connection to Redis: %s; nothing was changed".formatted(rootOf(failure).getMessage()), Effect.NONE,
                failure);
    }

    /**
     * The first word of the error reply at the bottom of the failure, or null if none is.
     */
    private static @Nullable String errorCode(Throwable failure) {
        String text = errorText(failure);
        int end = text.indexOf(' ');
        String word = (end < 0) ? text : text.substring(0, end);
        return (PASSING.contains(word) || REFUSALS.contains(word)) ? word : null;
    }

    private static String errorText(Throwable failure) {
        String message = rootOf(failure).getMessage();
        return (message != null) ? message : failure.toString();
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }

}
