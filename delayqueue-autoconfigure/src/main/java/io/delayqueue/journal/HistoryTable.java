package io.delayqueue.journal;

import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.delayqueue.QueueName;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

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

    private static final String SAME_ROW = "namespace = :namespace AND queue_name = :queue AND message_id = :id "
            + "AND occurred_at = :at AND node = :node AND event = :event";

    private final DataSource dataSource;

    private final JdbcClient jdbc;

    private final NamedParameterJdbcTemplate named;

    private final TransactionTemplate own;

    private final String namespace;

    private final String node;

    private final LongSupplier nanoTime;

    /** Microseconds to add to the monotonic clock for the time of the database. */
    private volatile @Nullable Long offset;

    private volatile @Nullable JournalDialect dialect;

    /**
     * Creates a table.
     * @param dataSource its database
     * @param namespace the namespace of the queues, as several may share the table
     * @param node the name of this process
     * @param nanoTime the monotonic clock
     */
    HistoryTable(DataSource dataSource, String namespace, String node, LongSupplier nanoTime) {
        this.dataSource = dataSource;
        this.jdbc = JdbcClient.create(dataSource);
        this.named = new NamedParameterJdbcTemplate(dataSource);
        this.own = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        this.own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        // Locks no gaps that inserts of other nodes would wait for.
        this.own.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        this.namespace = namespace;
        this.node = node.substring(0, Math.min(node.length(), NODE_LIMIT));
        this.nanoTime = nanoTime;
    }

    /**
     * Reads the table, without a row.
     * @throws IllegalStateException if it is missing, or this user may not read it
     */
    void requireTable() {
        try {
            inOwnTransaction(
                    () -> this.jdbc.sql("SELECT entry, " + COLUMNS + " FROM delayqueue_history WHERE entry = -1")
                        .query((row, number) -> row.getLong("entry"))
                        .list());
        }
        catch (BadSqlGrammarException ex) {
            throw new IllegalStateException(
                    "The table delayqueue_history cannot be read, which a queue with delayqueue.journal.mode 'audit' or 'ledger' "
                            + "needs: create it by the script of this version in io/delayqueue/journal, or set "
                            + "delayqueue.journal.jdbc.initialize-schema to 'always'",
                    ex);
        }
    }

    /**
     * Inserts rows, all or none.
     * @param repeated whether an earlier call for these rows failed, which may have
     * inserted them nevertheless
     */
    void insert(List<HistoryRow> rows, boolean repeated) {
        inOwnTransaction(() -> {
            long current = offset(repeated);
            MapSqlParameterSource[] parameters = rows.stream()
                .map((row) -> parameters(row, current))
                .toArray(MapSqlParameterSource[]::new);
            if (repeated && exists(parameters[parameters.length - 1])) {
                return 0;
            }
            return this.named.batchUpdate(
                    "INSERT INTO delayqueue_history (" + COLUMNS
                            + ") VALUES (:namespace, :queue, :id, :at, :node, :event, :attempt, :detail)",
                    parameters).length;
        });
    }

    private boolean exists(MapSqlParameterSource row) {
        return Objects.requireNonNull(
                this.named.queryForObject("SELECT COUNT(*) FROM delayqueue_history WHERE " + SAME_ROW, row, Long.class),
                "A count has a row") > 0;
    }

    private MapSqlParameterSource parameters(HistoryRow row, long current) {
        return new MapSqlParameterSource("namespace", this.namespace).addValue("queue", row.queue().value())
            .addValue("id", row.id())
            .addValue("at", row.nanos() / 1000 + current)
            .addValue("node", this.node)
            .addValue("event", row.event().name())
            .addValue("attempt", row.attempt())
            .addValue("detail", row.detail());
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
        long now = now() * 1000;
        long end = this.nanoTime.getAsLong();
        long half = (end - begin) / 2000;
        long measured = now - (begin / 1000 + half);
        if (used == null || Math.abs(measured - used) > half + OFFSET_TOLERANCE) {
            this.offset = measured;
            return measured;
        }
        return used;
    }

    /** Returns the database's time, in milliseconds. */
    private long now() {
        String now = dialect().now();
        if (now.contains(":now")) {
            return JournalDialect.time();
        }
        return this.jdbc.sql("SELECT " + now).query(Long.class).single();
    }

    /** Returns the latest entries of a message, the earliest first. */
    List<HistoryEntry> read(QueueName queue, String id, int limit) {
        List<HistoryEntry> entries = new ArrayList<>(inOwnTransaction(() -> this.jdbc.sql("""
                SELECT occurred_at, event, node, attempt, detail FROM delayqueue_history
                WHERE namespace = :namespace AND queue_name = :queue AND message_id = :id
                ORDER BY occurred_at DESC, entry DESC LIMIT :limit""")
            .param("namespace", this.namespace)
            .param("queue", queue.value())
            .param("id", id)
            .param("limit", limit)
            .query((row, number) -> entry(row))
            .list()).stream().flatMap(Optional::stream).toList());
        Collections.reverse(entries);
        return entries;
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
        return delete("occurred_at < :before ORDER BY occurred_at",
                new MapSqlParameterSource("before", (now() - retention.toMillis()) * 1000));
    }

    /**
     * Deletes by key, in the order of the keys: two nodes that delete the same rows do
     * not deadlock.
     */
    private int delete(String condition, MapSqlParameterSource parameters) {
        parameters.addValue("namespace", this.namespace).addValue("limit", DELETE_LIMIT);
        return inOwnTransaction(() -> {
            List<Long> found = this.named
                .queryForList("SELECT entry FROM delayqueue_history WHERE namespace = :namespace AND " + condition
                        + " LIMIT :limit", parameters, Long.class);
            if (!found.isEmpty()) {
                this.named.update("DELETE FROM delayqueue_history WHERE entry IN (:entries)",
                        new MapSqlParameterSource("entries", found.stream().sorted().toList()));
            }
            return found.size();
        });
    }

    private <T> T inOwnTransaction(Supplier<T> statements) {
        return Objects.requireNonNull(this.own.execute((status) -> statements.get()));
    }

    private JournalDialect dialect() {
        JournalDialect known = this.dialect;
        if (known == null) {
            try {
                known = JournalDialect
                    .of(JdbcUtils.extractDatabaseMetaData(this.dataSource, DatabaseMetaData::getDatabaseProductName));
            }
            catch (MetaDataAccessException ex) {
                throw new IllegalStateException("The history cannot connect to its database", ex);
            }
            this.dialect = known;
        }
        return known;
    }

}
