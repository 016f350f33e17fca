package io.delayqueue.journal;

import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.journal.JournalRequest.Operation;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Reads and writes the rows of requests. A row belongs to one node at a time: the one
 * that inserted it, or the one that claimed it after that claim ran out, on the
 * database's clock.
 * <p>
 * {@link #insert} joins the transaction of the calling thread if there is one; all other
 * methods have transactions of their own. Thread-safe.
 */
final class JournalTable {

    private static final Logger logger = LoggerFactory.getLogger(JournalTable.class);

    /** Maximum number of rows of one statement. */
    static final int BATCH_LIMIT = 100;

    private static final String COLUMNS = "revision, queue_name, message_id, operation, on_duplicate, due_millis, "
            + "due_relative, recorded_at, priority, ttl_millis, group_name, envelope";

    private final DataSource dataSource;

    private final JdbcClient jdbc;

    private final NamedParameterJdbcTemplate named;

    private final TransactionTemplate own;

    private final String namespace;

    private final String node = UUID.randomUUID().toString();

    private final Duration claim;

    private volatile @Nullable JournalDialect dialect;

    /**
     * Creates a table.
     * @param dataSource its database
     * @param namespace the namespace of the queues, as several may share the table
     * @param claim how long a row belongs to a node
     */
    JournalTable(DataSource dataSource, String namespace, Duration claim) {
        this.dataSource = dataSource;
        this.jdbc = JdbcClient.create(dataSource);
        this.named = new NamedParameterJdbcTemplate(dataSource);
        this.own = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        this.own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        // Locks no gaps that inserts of other transactions would wait for.
        this.own.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        this.namespace = namespace;
        this.claim = claim;
    }

    DataSource dataSource() {
        return this.dataSource;
    }

    Duration claim() {
        return this.claim;
    }

    /**
     * Reads the table, without a row.
     * @throws IllegalStateException if it is missing, or this user may not read it
     */
    void requireTable() {
        dialect();
        try {
            inOwnTransaction(() -> this.jdbc
                .sql("SELECT " + COLUMNS + ", claimed_by, claimed_until FROM delayqueue_journal WHERE 1 = 0")
                .query((row, number) -> row)
                .list());
        }
        catch (DataAccessException ex) {
            throw new IllegalStateException(
                    "The table delayqueue_journal cannot be read, which a queue with delayqueue.journal.mode 'outbox' needs: "
                            + "create it by the script of this version in io/delayqueue/journal, or set "
                            + "delayqueue.journal.jdbc.initialize-schema to 'always'",
                    ex);
        }
    }

    /**
     * Inserts requests, all or none, in a transaction of their own, and returns their
     * revisions.
     */
    List<Long> insertAlone(List<JournalRequest> requests) {
        return inOwnTransaction(() -> requests.stream().map(this::insert).toList());
    }

    /** Inserts a request, claimed by this node, and returns its revision. */
    long insert(JournalRequest request) {
        NewMessage message = request.message();
        DueTime due = request.due();
        Duration timeToLive = (message != null) ? message.timeToLive() : null;
        KeyHolder key = new GeneratedKeyHolder();
        statement("""
                INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                  due_relative, recorded_at, priority, ttl_millis, group_name, envelope, claimed_by, claimed_until)
                VALUES (:namespace, :queue, :id, :operation, :onDuplicate, :due, :relative, $now, :priority, :ttl,
                  :group, :envelope, :node, $now + :claim)""").param("queue", request.queue().value())
            .param("id", request.id())
            .param("operation", request.operation().letter())
            .param("onDuplicate", (message != null) ? message.onDuplicate().name() : null)
            .param("due", (due != null) ? due.millis() : null)
            .param("relative", due != null && due.relative())
            .param("priority", (message != null) ? message.priority() : null)
            .param("ttl", (timeToLive != null) ? timeToLive.toMillis() : null)
            .param("group", (message != null) ? message.group() : null)
            .param("envelope", (message != null) ? message.envelope() : null)
            .param("node", this.node)
            .param("claim", this.claim.toMillis())
            .update(key, "revision");
        return Objects.requireNonNull(key.getKey(), "The database returned no key").longValue();
    }

    /** Returns those of some rows that belong to this node, in the order of revisions. */
    List<JournalRow> read(Collection<Long> revisions) {
        return inOwnTransaction(() -> statement("SELECT " + COLUMNS + """
                , $now AS read_at, EXISTS (SELECT 1 FROM delayqueue_journal o WHERE o.namespace = r.namespace
                  AND o.queue_name = r.queue_name AND o.message_id = r.message_id AND o.revision < r.revision) AS behind
                FROM delayqueue_journal r
                WHERE revision IN (:revisions) AND claimed_by = :node AND claimed_until > $now + :rest
                ORDER BY revision""").param("revisions", revisions)
            .param("node", this.node)
            .param("rest", this.claim.dividedBy(2).toMillis())
            .query((row, number) -> toRowOrEmpty(row))
            .list()).stream().flatMap(Optional::stream).toList();
    }

    /**
     * Claims rows that belong to no node any more and are the earliest of their ids.
     * @return their revisions, at most {@link #BATCH_LIMIT}; another node may claim some
     * of them first
     */
    List<Long> claimAbandoned() {
        List<Long> found = inOwnTransaction(() -> statement("""
                SELECT revision FROM delayqueue_journal r
                WHERE namespace = :namespace AND claimed_until < $now
                  AND NOT EXISTS (SELECT 1 FROM delayqueue_journal o WHERE o.namespace = r.namespace
                    AND o.queue_name = r.queue_name AND o.message_id = r.message_id AND o.revision < r.revision)
                ORDER BY claimed_until LIMIT :limit""").param("limit", BATCH_LIMIT).query(Long.class).list());
        List<Long> sorted = found.stream().sorted().toList();
        if (!sorted.isEmpty()) {
            update("""
                    UPDATE delayqueue_journal SET claimed_by = :node, claimed_until = $now + :span
                    WHERE revision = :revision AND claimed_until < $now""", sorted, this.claim);
        }
        return sorted;
    }

    /** Deletes rows whose requests the store has applied. */
    void delete(Collection<Long> revisions) {
        if (!revisions.isEmpty()) {
            update("DELETE FROM delayqueue_journal WHERE revision = :revision", revisions, Duration.ZERO);
        }
    }

    /** Ends the claims of this node on rows, which any node may claim after a delay. */
    void release(Collection<Long> revisions, Duration delay) {
        if (!revisions.isEmpty()) {
            update("""
                    UPDATE delayqueue_journal SET claimed_until = $now + :span
                    WHERE revision = :revision AND claimed_by = :node""", revisions, delay);
        }
    }

    /**
     * Runs a statement for each row, by its key alone, as a range could lock further
     * rows.
     */
    private void update(String sql, Collection<Long> revisions, Duration span) {
        String complete = sql.replace("$now", dialect().now());
        MapSqlParameterSource[] rows = revisions.stream()
            .sorted()
            .map((revision) -> new MapSqlParameterSource("revision", revision).addValue("node", this.node)
                .addValue("span", span.toMillis())
                .addValue("now", JournalDialect.time()))
            .toArray(MapSqlParameterSource[]::new);
        inOwnTransaction(() -> this.named.batchUpdate(complete, rows));
    }

    private <T> T inOwnTransaction(Supplier<T> statements) {
        return Objects.requireNonNull(this.own.execute((status) -> statements.get()));
    }

    private StatementSpec statement(String sql) {
        JournalDialect known = dialect();
        String complete = sql.replace("$now", known.now());
        StatementSpec statement = this.jdbc.sql(complete);
        if (complete.contains(":namespace")) {
            statement = statement.param("namespace", this.namespace);
        }
        return complete.contains(":now") ? statement.param("now", JournalDialect.time()) : statement;
    }

    private JournalDialect dialect() {
        JournalDialect known = this.dialect;
        if (known == null) {
            try {
                known = JournalDialect
                    .of(JdbcUtils.extractDatabaseMetaData(this.dataSource, DatabaseMetaData::getDatabaseProductName));
            }
            catch (MetaDataAccessException ex) {
                throw new IllegalStateException("The journal cannot connect to its database", ex);
            }
            this.dialect = known;
        }
        return known;
    }

    /** Leaves out a row that this version cannot read; its claim runs out. */
    private static Optional<JournalRow> toRowOrEmpty(ResultSet row) throws SQLException {
        try {
            return Optional.of(toRow(row));
        }
        catch (IllegalArgumentException ex) {
            logger.error("Row {} of delayqueue_journal cannot be read and waits: {}", row.getLong("revision"),
                    ex.getMessage());
            return Optional.empty();
        }
    }

    private static JournalRow toRow(ResultSet row) throws SQLException {
        long revision = row.getLong("revision");
        QueueName queue = new QueueName(row.getString("queue_name"));
        String id = row.getString("message_id");
        Operation operation = Operation.of(row.getString("operation"));
        JournalRequest request = switch (operation) {
            case SEND -> JournalRequest.send(queue, message(row, revision, id));
            case RESCHEDULE -> JournalRequest.reschedule(queue, id, remaining(row));
            case CANCEL -> JournalRequest.cancel(queue, id);
        };
        return new JournalRow(revision, request, row.getBoolean("behind"));
    }

    private static NewMessage message(ResultSet row, long revision, String id) throws SQLException {
        long timeToLive = row.getLong("ttl_millis");
        boolean limited = !row.wasNull();
        return JournalRequest.message(revision, id, remaining(row), OnDuplicate.valueOf(row.getString("on_duplicate")),
                row.getInt("priority"), limited ? Duration.ofMillis(timeToLive) : null, row.getString("group_name"),
                row.getBytes("envelope"));
    }

    /**
     * Returns the due time of a request, with the rest of its delay. Both times of the
     * subtraction are rounded down, so the elapsed time may be a millisecond less.
     */
    private static DueTime remaining(ResultSet row) throws SQLException {
        long millis = row.getLong("due_millis");
        if (!row.getBoolean("due_relative")) {
            return new DueTime(millis, false);
        }
        long elapsed = Math.max(0, row.getLong("read_at") - row.getLong("recorded_at") - 1);
        return new DueTime(Math.max(0, millis - elapsed), true);
    }

}
