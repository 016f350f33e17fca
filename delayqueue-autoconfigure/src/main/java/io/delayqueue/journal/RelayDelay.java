package io.delayqueue.journal;

import java.time.Duration;
import java.util.Set;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures the age of the oldest request of all nodes that is not applied. A problem of
 * the relay is over once no request is left that was recorded before it: one that another
 * node has applied ends it too, and one that still waits keeps it, whatever else is
 * applied.
 * <p>
 * <strong>Threads.</strong> Confined to that of the relay.
 */
final class RelayDelay {

    private static final Logger logger = LoggerFactory.getLogger(RelayDelay.class);

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** Rows that are read at most. If there are more, the oldest may be older. */
    private static final int LIMIT = 1000;

    private static final long NONE = -1;

    private final JournalDatabase database;

    private final JournalStatus status;

    private long nextAt = System.nanoTime();

    RelayDelay(JournalDatabase database, JournalStatus status) {
        this.database = database;
        this.status = status;
    }

    /** Reads the delay, once a second. */
    void read() {
        if (System.nanoTime() - this.nextAt < 0) {
            return;
        }
        this.nextAt = System.nanoTime() + INTERVAL.toNanos();
        long begin = System.nanoTime();
        long age = age(this.status.foreignQueues());
        if (this.status.waiting((age != NONE) ? Duration.ofMillis(age) : null, begin)) {
            logger.info("Requests of the journal are applied again");
        }
    }

    /**
     * Returns the age of the oldest request in milliseconds, by the clock of the
     * database; {@link #NONE} if there is none.
     * @param leftOut the queues whose requests wait for an operator
     */
    private long age(Set<String> leftOut) {
        return this.database.query(() -> this.database
            .replanned("SELECT $now - MIN(recorded_at) FROM (SELECT recorded_at FROM delayqueue_journal "
                    + "WHERE namespace = :namespace AND accepted = FALSE"
                    + (leftOut.isEmpty() ? "" : " AND queue_name NOT IN (:leftOut)")
                    + " ORDER BY claimed_until LIMIT :limit) waiting")
            .param("leftOut", leftOut.isEmpty() ? Set.of("") : leftOut)
            .param("limit", LIMIT)
            .query((row, number) -> {
                long age = row.getLong(1);
                return row.wasNull() ? NONE : Math.max(0, age);
            })
            .single());
    }

}
