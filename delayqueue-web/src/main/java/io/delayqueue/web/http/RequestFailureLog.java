package io.delayqueue.web.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.UnreadableScheduleException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failed requests: store failures in one line, defects with their stack trace.
 * Repetitions are counted and logged once a minute, because an open dashboard polls every
 * few seconds.
 * <p>
 * <strong>Threads.</strong> Container threads. The lock guards the lookup only, not the
 * logging.
 */
final class RequestFailureLog {

    private static final Logger logger = LoggerFactory.getLogger(RequestFailureLog.class);

    private static final long QUIET = TimeUnit.MINUTES.toNanos(1);

    private static final int MAX_KNOWN = 200;

    private static final int MAX_LINE = 1000;

    private final LongSupplier nanoTime;

    /** Logged failures, the latest last; guarded by this. */
    private final Map<String, Seen> known = new LinkedHashMap<>();

    RequestFailureLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Logs a failure, unless the response already has all the details. */
    void log(HttpServletRequest request, Throwable failure) {
        Throwable cause = StoreFailures.unwrap(failure);
        if (cause instanceof ProblemException || cause instanceof NotReplicatedException
                || cause instanceof MessageGroupChangeException || cause instanceof UnreadableScheduleException) {
            return;
        }
        String route = Json.line(request.getMethod() + " " + request.getRequestURI(), MAX_LINE);
        String why = Json.line(String.valueOf(cause.getMessage()), MAX_LINE);
        String again = again(route + " " + cause.getClass().getName() + " " + why);
        if (again == null) {
            return;
        }
        if (cause instanceof StoreUnavailableException || cause instanceof BatchSendException) {
            logger.warn("{} failed{}: {}", route, again, why);
        }
        else if (cause instanceof DelayQueueException known) {
            logger.error("{} failed{}: {}", route, again, why);
            logger.debug("It failed so", known);
        }
        else {
            logger.error("{} failed{}", route, again, cause);
        }
    }

    /**
     * Returns how many repetitions were suppressed, in words; {@code null} to suppress
     * this one too.
     */
    private synchronized @Nullable String again(String what) {
        long now = this.nanoTime.getAsLong();
        Seen seen = this.known.get(what);
        if (seen != null && now - seen.at() < QUIET) {
            this.known.put(what, new Seen(seen.at(), seen.more() + 1));
            return null;
        }
        this.known.remove(what);
        if (this.known.size() >= MAX_KNOWN) {
            this.known.remove(this.known.keySet().iterator().next());
        }
        this.known.put(what, new Seen(now, 0));
        return (seen != null && seen.more() > 0) ? " (and %d times more since it was logged)".formatted(seen.more())
                : "";
    }

    /**
     * Holds a failure that was logged.
     *
     * @param at when, on the monotonic clock
     * @param more how many repetitions were suppressed since
     */
    private record Seen(long at, int more) {
    }

}
