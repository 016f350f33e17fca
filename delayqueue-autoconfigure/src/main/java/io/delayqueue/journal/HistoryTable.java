package io.delayqueue.journal;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.SqlParameterValue;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;

/**
 * Reads and writes the rows of the history, in transactions of their own. Their times are
 * those of the database's clock: of the monotonic clock of this process plus an offset,
 * which is measured with each batch. Thread-safe.
 */
final class HistoryTable {

    /** Maximum number of rows that one transaction deletes. */
    static final int DELETE_LIMIT = 1000;

    /** How much a measured offset may differ before it replaces the one in use. */
    private static final long OFFSET_TOLERANCE = 5000;

    private static final int NODE_LIMIT = 128;

    private static final String COLUMNS = "namespace, queue_name, message_id, occurred_at, node, event, attempt, detail";

    private static final String INSERT = "INSERT INTO delayqueue_history (" + COLUMNS + ") VALUES :rows";

    /** Rows of one statement: a statement for each row costs several times as much. */
    private static final int STATEMENT_LIMIT = 50;

    private static final String SAME_ROW = "namespace = :namespace AND queue_name = :queue AND message_id = :id "
            + "AND occurred_at = :at AND node = :node AND event = :event";

    private final JournalDatabase database;

    private final String node;

    private final LongSupplier nanoTime;

    /** Microseconds to add to the monotonic clock for the time of the database. */
    private volatile @Nullable Long offset;

    /**
     * Creates a table.
     * @param node the name of this process
     * @param nanoTime the monotonic clock
     */
    HistoryTable(JournalDatabase database, String node, LongSupplier nanoTime) {
        this.database = database;
        this.node = node.substring(0, Math.min(node.length(), NODE_LIMIT));
        this.nanoTime = nanoTime;
    }

    /**
     * Checks the table, without a row.
     * @throws IllegalStateException if it is missing, or this user has not all rights
     */
    void requireTable() {
        this.database.requireTable(JournalTableCheck.HISTORY, "'audit' or 'ledger'");
    }

    /**
     * Inserts rows, all or none.
     * @param repeated whether an earlier call for these rows failed, which may have
     * inserted them nevertheless
     */
    void insert(List<HistoryRow> rows, boolean repeated) {
        this.database.inOwnTransaction(() -> {
            long current = offset(repeated);
            if (repeated && exists(rows.get(rows.size() - 1), current)) {
                return 0;
            }
            for (int i = 0; i < rows.size(); i += STATEMENT_LIMIT) {
                List<Object[]> values = rows.subList(i, Math.min(i + STATEMENT_LIMIT, rows.size()))
                    .stream()
                    .map((row) -> values(row, current))
                    .toList();
                // The driver caches the statement of a full list alone.
                StatementSpec insert = (values.size() == STATEMENT_LIMIT) ? this.database.statement(INSERT)
                        : this.database.replanned(INSERT);
                insert.param("rows", values).update();
            }
            return rows.size();
        });
    }

    private boolean exists(HistoryRow row, long current) {
        return this.database.replanned("SELECT COUNT(*) FROM delayqueue_history WHERE " + SAME_ROW)
            .param("queue", row.queue().value())
            .param("id", row.id())
            .param("at", time(row, current))
            .param("node", this.node)
            .param("event", row.event().name())
            .query(Long.class)
            .single() > 0;
    }

    private Object[] values(HistoryRow row, long current) {
        return new Object[] { this.database.namespace(), row.queue().value(), row.id(), time(row, current), this.node,
                row.event().name(), new SqlParameterValue(Types.INTEGER, row.attempt()),
                new SqlParameterValue(Types.VARCHAR, row.detail()) };
    }

    private static long time(HistoryRow row, long current) {
        return row.nanos() / 1000 + current;
    }

    /**
     * Measures the offset, and returns the one in use: it changes only if the clocks have
     * drifted apart, so that rows of several batches keep their order. A repeated batch
     * keeps its times.
     */
    private long offset(boolean repeated) {
        Long used = this.offset;
        if (repeated && used != null) {
            return used;
        }
        long begin = this.nanoTime.getAsLong();
        long now = this.database.now() * 1000;
        long end = this.nanoTime.getAsLong();
        long half = (end - begin) / 2000;
        long measured = now - (begin / 1000 + half);
        if (used == null || Math.abs(measured - used) > half + OFFSET_TOLERANCE) {
            this.offset = measured;
            return measured;
        }
        return used;
    }

    /** Returns the latest entries of a message, the earliest first. */
    List<HistoryEntry> read(QueueName queue, String id, int limit) {
        List<HistoryEntry> entries = new ArrayList<>(this.database
            .query(() -> this.database.replanned("""
                    SELECT occurred_at, event, node, attempt, detail FROM delayqueue_history
                    WHERE namespace = :namespace AND queue_name = :queue AND message_id = :id
                    ORDER BY occurred_at DESC, entry DESC LIMIT :limit""")
                .param("queue", queue.value())
                .param("id", id)
                .param("limit", limit)
                .query((row, number) -> entry(row))
                .list())
            .stream()
            .flatMap(Optional::stream)
            .toList());
        Collections.reverse(entries);
        return entries;
    }

    /** Returns those of some queues that have entries of an id. */
    List<String> queuesOf(String id, Collection<String> queues) {
        return this.database.query(() -> this.database.replanned("""
                SELECT DISTINCT queue_name FROM delayqueue_history
                WHERE namespace = :namespace AND queue_name IN (:queues) AND message_id = :id""")
            .param("queues", List.copyOf(queues))
            .param("id", id)
            .query(String.class)
            .list());
    }

    /** Leaves out the event of a later version. */
    private static Optional<HistoryEntry> entry(ResultSet row) throws SQLException {
        String event = row.getString("event");
        Instant at = Instant.EPOCH.plus(row.getLong("occurred_at"), ChronoUnit.MICROS);
        int attempt = row.getInt("attempt");
        Integer known = row.wasNull() ? null : attempt;
        String node = row.getString("node");
        String detail = row.getString("detail");
        return Arrays.stream(Event.values())
            .filter((each) -> each.name().equals(event))
            .findFirst()
            .map((each) -> new HistoryEntry(at, each, node, known, detail));
    }

    /**
     * Deletes the rows of a message.
     * @return how many there were
     */
    long delete(QueueName queue, String id) {
        long deleted = 0;
        int last;
        do {
            last = delete("queue_name = :queue AND message_id = :id ORDER BY occurred_at",
                    new MapSqlParameterSource("queue", queue.value()).addValue("id", id));
            deleted += last;
        }
        while (last == DELETE_LIMIT);
        return deleted;
    }

    /**
     * Deletes some of the rows that are older than the retention time.
     * @return how many, at most {@link #DELETE_LIMIT}
     */
    int deleteOlderThan(Duration retention) {
        long now = this.database.query(this.database::now);
        return delete("occurred_at < :before ORDER BY occurred_at",
                new MapSqlParameterSource("before", (now - retention.toMillis()) * 1000));
    }

    /**
     * Deletes by key, in the order of the keys: two nodes that delete the same rows do
     * not deadlock.
     */
    private int delete(String condition, MapSqlParameterSource parameters) {
        parameters.addValue("limit", DELETE_LIMIT);
        return this.database.inOwnTransaction(() -> {
            List<Long> found = this.database
                .replanned("SELECT entry FROM delayqueue_history WHERE namespace = :namespace AND " + condition
                        + " LIMIT :limit")
                .params(parameters.getValues())
                .query((row, number) -> row.getLong(1))
                .list();
            if (!found.isEmpty()) {
                this.database.statement("DELETE FROM delayqueue_history WHERE entry IN (:entries)")
                    .param("entries", found.stream().sorted().toList())
                    .update();
            }
            return found.size();
        });
    }

}
