package io.delayqueue.journal;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;

import io.delayqueue.DelayQueueException;
import io.delayqueue.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Records which parts of the reconciler's work fail, such as the calls of a partition,
 * and logs the begin and the end of an outage. An outage begins when a first part fails,
 * and ends when all succeed again. Logs parts that fail in addition once in a while.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class ReconcilerProblems {

    private static final Logger logger = LoggerFactory.getLogger(ReconcilerProblems.class);

    /** The shortest time between two log lines of an outage. */
    private static final Duration LOG_INTERVAL = Duration.ofMinutes(5);

    private static final String BEGIN = "The rows of the journal cannot be compared with Redis now, because of {}: {}. "
            + "Trying again";

    private final JournalStatus status;

    /** The names of the parts that fail. */
    private final Set<String> failing = new LinkedHashSet<>();

    /** Whether a part fails that was not logged. */
    private boolean unlogged;

    /** When a part was logged last, in nanoseconds of the monotonic clock. */
    private long loggedAt;

    ReconcilerProblems(JournalStatus status) {
        this.status = status;
    }

    /**
     * Records that a part fails.
     * @param part its name for the log
     */
    void failed(String part, Throwable failure) {
        Throwable cause = StoreFailures.unwrap(failure);
        boolean first = this.failing.isEmpty();
        this.unlogged |= this.failing.add(part);
        this.status.reconciler(cause);
        if (this.unlogged && (first || System.nanoTime() - this.loggedAt >= LOG_INTERVAL.toNanos())) {
            this.unlogged = false;
            this.loggedAt = System.nanoTime();
            log(first ? part : String.join(", ", this.failing), cause);
        }
    }

    private static void log(String parts, Throwable cause) {
        if (cause instanceof DelayQueueException || cause instanceof DataAccessException
                || cause instanceof TransactionException) {
            logger.warn(BEGIN, parts, cause.toString());
        }
        else {
            logger.error(BEGIN, parts, cause.toString(), cause);
        }
    }

    /** Records that a part does not fail. */
    void over(String part) {
        if (this.failing.remove(part) && this.failing.isEmpty()) {
            this.unlogged = false;
            this.status.reconciler(null);
            logger.info("The rows of the journal are compared with Redis again");
        }
    }

}
