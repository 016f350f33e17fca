package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.StaleLayoutException;
import org.jspecify.annotations.Nullable;

/**
 * Classifies exceptions of a client by whether Redis rejected the call and whether its
 * effect is known. Matches the words of Redis' error replies, as every client wraps them
 * in classes of its own.
 */
public final class RedisExceptionTranslator {

    /**
     * Codes of temporary errors. Redis, or a script with DQLATE, returns them before
     * anything is written.
     */
    private static final Set<String> TEMPORARY_CODES = Set.of("LOADING", "BUSY", "CLUSTERDOWN", "TRYAGAIN",
            "MASTERDOWN", "READONLY", "NOREPLICAS", "MOVED", "ASK", "DQLATE");

    /** Codes of calls that Redis rejects. */
    private static final Set<String> REJECTION_CODES = Set.of("ERR", "OOM", "NOPERM", "NOAUTH", "WRONGPASS",
            "WRONGTYPE", "MISCONF", "NOSCRIPT", "CROSSSLOT", "EXECABORT", "UNKILLABLE");

    /** Codes of calls that another server would accept. */
    private static final Set<String> OTHER_SERVER_CODES = Set.of("READONLY", "MOVED", "MASTERDOWN", "CLUSTERDOWN");

    /** Matches an error inside a script, as Redis before 7.0 words it. */
    private static final Pattern ERROR_IN_SCRIPT = Pattern.compile("@user_script: \\d+: -([A-Z]+) ");

    /**
     * Codes with which Redis rejects writes that another server, or this one later, would
     * accept.
     */
    private static final Set<String> WRITE_UNAVAILABLE_CODES = Set.of("READONLY", "NOREPLICAS", "MISCONF", "OOM");

    /**
     * Code with which the scripts reject a sender whose layout of partitions is outdated.
     */
    private static final String STALE_LAYOUT = "DQSTALE";

    /** Matches a whole record; a truncated one might be valid too. */
    private static final Pattern LAYOUT_RECORD = Pattern.compile("\\d{1,9}\\|[\\d,]+(?:p\\d{0,15})?j?\\+?");

    private static final String REPEATED = "it was sent before, and that may have taken effect";

    private static final int MAX_DEPTH = 10;

    private RedisExceptionTranslator() {
    }

    /** Returns whether the server does not know the script with this digest. */
    public static boolean isUnknownScript(Throwable failure) {
        return "NOSCRIPT".equals(errorCode(failure));
    }

    /** Returns whether the keys are split between two nodes of a cluster. */
    static boolean isSlotMoving(Throwable failure) {
        return "TRYAGAIN".equals(errorCode(failure));
    }

    /**
     * Returns whether a node redirected the call to another. A client of clusters gives
     * up while two nodes redirect it to each other, which lasts a moment.
     */
    static boolean isRedirect(Throwable failure) {
        String code = errorCode(failure);
        return "MOVED".equals(code) || "ASK".equals(code);
    }

    /** Returns whether the server replied with an error. */
    public static boolean isErrorReply(Throwable failure) {
        return errorCode(failure) != null || errorText(failure).startsWith(STALE_LAYOUT);
    }

    /**
     * Returns whether the call needs another server or connection. While only some keys
     * of a slot have moved, its server stays the same.
     */
    public static boolean needsAnotherConnection(Throwable failure) {
        return !isErrorReply(failure) || OTHER_SERVER_CODES.contains(String.valueOf(errorCode(failure)));
    }

    /** Returns whether the server rejects the credentials of this user. */
    public static boolean isAuthenticationError(Throwable failure) {
        String code = errorCode(failure);
        return "WRONGPASS".equals(code) || "NOAUTH".equals(code);
    }

    public static DelayQueueException translate(RedisScript script, Throwable failure, Duration limit) {
        return translate(script, failure, limit, false);
    }

    /**
     * Translates a failure.
     * @param repeated whether the client may have sent the script before and lost the
     * answer; then the effect of that attempt is unknown, whatever this answer says
     */
    public static DelayQueueException translate(RedisScript script, Throwable failure, Duration limit,
            boolean repeated) {
        if (failure instanceof DelayQueueException known) {
            return known;
        }
        if (failure instanceof TimeoutException || failure instanceof CancellationException) {
            return new StoreUnavailableException(
                    ("No answer from Redis to '%s' within %d ms; the operation may or may not have taken effect")
                        .formatted(script.name(), limit.toMillis()),
                    Effect.UNKNOWN, failure);
        }
        if (errorText(failure).startsWith(STALE_LAYOUT)) {
            return new StoreUnavailableException(
                    "The partitions of the queue were changed during '%s'; %s".formatted(script.name(),
                            repeated ? REPEATED : "nothing was changed"),
                    repeated ? Effect.UNKNOWN : Effect.NONE,
                    new StaleLayoutException(errorText(failure), recordIn(errorText(failure))));
        }
        String code = errorCode(failure);
        if (code != null && TEMPORARY_CODES.contains(code)) {
            return new StoreUnavailableException(
                    "Redis cannot run '%s' now: %s; %s".formatted(script.name(), errorText(failure),
                            repeated ? REPEATED : "nothing was changed"),
                    repeated ? Effect.UNKNOWN : Effect.NONE, failure);
        }
        if (code != null && REJECTION_CODES.contains(code)) {
            boolean mayHaveWritten = mayHaveWritten(errorText(failure));
            return new StoreRefusedException(
                    "Redis refused '%s': %s; %s".formatted(script.name(), errorText(failure),
                            mayHaveWritten ? "part of it may have taken effect"
                                    : repeated ? REPEATED : "nothing was changed"),
                    (mayHaveWritten || repeated) ? Effect.UNKNOWN : Effect.NONE, failure);
        }
        return new StoreUnavailableException(
                "The connection to Redis failed during '%s': %s; the operation may or may not have taken effect"
                    .formatted(script.name(), failure),
                Effect.UNKNOWN, failure);
    }

    /** Translates a failure of a command that only reads. */
    public static DelayQueueException translateRead(String command, RuntimeException failure) {
        String code = errorCode(failure);
        if (code != null && REJECTION_CODES.contains(code)) {
            return new StoreRefusedException("Redis refused %s: %s".formatted(command, errorText(failure)), Effect.NONE,
                    failure);
        }
        return new StoreUnavailableException("Redis did not answer %s: %s".formatted(command, failure), Effect.NONE,
                failure);
    }

    private static @Nullable PartitionLayout recordIn(String error) {
        Matcher record = LAYOUT_RECORD.matcher(error);
        try {
            return record.find() ? PartitionLayout.parse(record.group()) : null;
        }
        catch (IllegalArgumentException ex) {
            // Another writer than this library wrote it; the next read reports the error.
            return null;
        }
    }

    public static DelayQueueException notConnected(Throwable failure) {
        return new StoreUnavailableException(
                "No connection to Redis: %s; nothing was changed".formatted(lastMessages(failure)), Effect.NONE,
                failure);
    }

    public static DelayQueueException notSent(RedisScript script, Throwable failure, Duration limit) {
        return new StoreUnavailableException(
                "'%s' was not sent to Redis within %d ms, as others before it were not answered; nothing was changed"
                    .formatted(script.name(), limit.toMillis()),
                Effect.NONE, failure);
    }

    /**
     * Returns the code of the error reply at the root of the failure, or null if none.
     */
    private static @Nullable String errorCode(Throwable failure) {
        String word = codeOf(errorText(failure));
        return (TEMPORARY_CODES.contains(word) || REJECTION_CODES.contains(word)) ? word : null;
    }

    /** Returns whether an error reply rejects a write for a reason other than rights. */
    public static boolean isWriteUnavailable(String error) {
        return WRITE_UNAVAILABLE_CODES.contains(codeOf(error));
    }

    /**
     * Returns whether the error occurred after the script may have written. Redis checks
     * memory and its permission to write at the first write.
     */
    private static boolean mayHaveWritten(String error) {
        return (error.contains("@user_script") || error.contains("user_script:")) && !isWriteUnavailable(error);
    }

    private static String codeOf(String error) {
        Matcher inScript = ERROR_IN_SCRIPT.matcher(error);
        if (inScript.find()) {
            return inScript.group(1);
        }
        int end = error.indexOf(' ');
        return (end < 0) ? error : error.substring(0, end);
    }

    public static String errorText(Throwable failure) {
        String message = rootOf(failure).getMessage();
        return (message != null) ? message : failure.toString();
    }

    /**
     * Returns the last two messages in the chain of causes; the first of them usually
     * names the address.
     */
    private static String lastMessages(Throwable failure) {
        List<String> messages = new ArrayList<>();
        for (Throwable cause = failure; cause != null && messages.size() < MAX_DEPTH; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (message != null && (messages.isEmpty() || !messages.get(messages.size() - 1).contains(message))) {
                messages.add(message);
            }
        }
        return messages.isEmpty() ? failure.toString()
                : String.join(": ", messages.subList(Math.max(0, messages.size() - 2), messages.size()));
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }

}
