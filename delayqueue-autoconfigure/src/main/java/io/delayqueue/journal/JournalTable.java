package io.delayqueue.journal;

import java.sql.DatabaseMetaData;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.delayqueue.QueueName;
import io.delayqueue.journal.JournalRequest.Operation;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.transaction.CannotCreateTransactionException;
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

    /** Maximum size of the messages of a page, besides the last one, in bytes. */
    private static final long BYTES_LIMIT = 8 * 1024 * 1024;

    private static final String COLUMNS = "revision, queue_name, message_id, operation, on_duplicate, due_millis, "
            + "due_relative, recorded_at, priority, ttl_millis, group_name, envelope, accepted, checks, claimed_until, failures";

    /** The columns and names of all tables of a journal, as a query selects them. */
    private static final List<String> TABLES = List.of(COLUMNS + ", namespace, claimed_by FROM delayqueue_journal",
            "namespace, identity, committed_at FROM delayqueue_journal_identity", "revision FROM delayqueue_handled",
            "namespace, queue_name, dead_letter_id, message_id, partition_number, content FROM delayqueue_dead_letter");

    /**
     * Counts rows {@code o} of the same id as row {@code r}. A database cannot turn this
     * into a join, whose plan would be quadratic for a table that has grown since its
     * statistics were collected.
     */
    private static final String COUNT_OF_SAME_ID = "(SELECT COUNT(*) FROM delayqueue_journal o "
            + "WHERE o.namespace = r.namespace AND o.queue_name = r.queue_name AND o.message_id = r.message_id AND ";

    /**
     * Selects rows that are not accepted, as no index can: only that of ids is suitable.
     */
    private static final String PENDING = "CASE WHEN o.accepted THEN 0 ELSE 1 END = 1";

    private static final String BEHIND_PENDING = COUNT_OF_SAME_ID + "o.revision < r.revision AND " + PENDING
            + ") > 0 AS behind";

    /** The columns of an accepted row; a request about its id may be pending. */
    private static final String ACCEPTED_COLUMNS = COLUMNS + ", $now AS read_at, " + COUNT_OF_SAME_ID + "(" + PENDING
            + " OR o.operation = 'S' AND o.revision < r.revision)) > 0 AS behind, FALSE AS superseded";

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

    String namespace() {
        return this.namespace;
    }

    /** Returns the template of transactions that are independent of the caller's. */
    TransactionTemplate transaction() {
        return this.own;
    }

    /**
     * Reads the tables of requests and dead letters, without a row.
     * @throws IllegalStateException if one is missing or has other columns, or this user
     * may not read it
     */
    void requireTables() {
        dialect();
        TABLES.forEach(this::requireTable);
    }

    private void requireTable(String columns) {
        try {
            inOwnTransaction(() -> this.jdbc.sql("SELECT " + columns + " WHERE 1 = 0").query().listOfRows());
        }
        catch (DataAccessException ex) {
            String table = columns.substring(columns.lastIndexOf(' ') + 1);
            throw new IllegalStateException(
                    "The table %s cannot be read, which a queue with a delayqueue.journal.mode ".formatted(table)
                            + "needs: create it by the script of this version in io/delayqueue/journal, or "
                            + "set delayqueue.journal.jdbc.initialize-schema to 'always'",
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
                  due_relative, recorded_at, priority, ttl_millis, group_name, envelope, accepted, checks, claimed_by,
                  claimed_until)
                VALUES (:namespace, :queue, :id, :operation, :onDuplicate, :due, :relative, $now, :priority, :ttl,
                  :group, :envelope, FALSE, 0, :node, $now + :claim)""").param("queue", request.queue().value())
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

    /**
     * Returns those of some rows that belong to this node and are not accepted, in the
     * order of revisions.
     */
    List<JournalRow> read(Collection<Long> revisions) {
        return rows(() -> statement("SELECT " + COLUMNS + ", $now AS read_at, " + BEHIND_PENDING + ", "
                + COUNT_OF_SAME_ID + "o.revision > r.revision AND NOT (" + PENDING + ")) > 0 AS superseded" + """
                         FROM delayqueue_journal r
                        WHERE revision IN (:revisions) AND claimed_by = :node AND claimed_until > $now + :rest
                        ORDER BY revision""")
            .param("revisions", revisions)
            .param("node", this.node)
            .param("rest", this.claim.dividedBy(2).toMillis())).stream().filter((row) -> !row.accepted()).toList();
    }

    /**
     * Returns the accepted rows of an id before a revision, in the order of revisions.
     */
    List<JournalRow> acceptedBefore(QueueName queue, String id, long revision) {
        return rows(() -> statement("SELECT " + COLUMNS + ", $now AS read_at, FALSE AS behind, FALSE AS superseded "
                + "FROM delayqueue_journal o WHERE namespace = :namespace AND queue_name = :queue "
                + "AND message_id = :id AND revision < :revision AND NOT (" + PENDING + ") ORDER BY revision")
            .param("queue", queue.value())
            .param("id", id)
            .param("revision", revision));
    }

    /**
     * Returns accepted rows whose next check is over, the earliest first. Large ones are
     * fewer than the limit.
     */
    List<JournalRow> dueForCheck(int limit) {
        return page(() -> statement("SELECT " + ACCEPTED_COLUMNS + " FROM delayqueue_journal r " + """
                WHERE namespace = :namespace AND accepted = TRUE AND claimed_until < (SELECT $now)
                ORDER BY claimed_until LIMIT :limit""").param("limit", limit));
    }

    /**
     * Returns a page of the accepted requests of a plan, in the order of their next
     * checks; for sends, that is about the order of their due times. Large ones are fewer
     * than the limit.
     * @param operation of the requests
     * @param after the last row of the page before
     */
    List<JournalRow> accepted(RestorePlan plan, Operation operation, RestoreCursor after, int limit) {
        Instant dueBefore = plan.dueBefore();
        String restriction = ((plan.queue() != null) ? " AND queue_name = :queue" : "")
                + ((plan.id() != null) ? " AND message_id = :id" : "")
                + ((dueBefore != null) ? " AND due_millis < :due" : "");
        return page(() -> statement("SELECT " + ACCEPTED_COLUMNS + " FROM delayqueue_journal r "
                + "WHERE namespace = :namespace AND accepted = TRUE AND claimed_until >= :check "
                + "AND (claimed_until > :check OR revision > :revision) AND operation = '"
                // As a parameter, PostgreSQL would expect few such rows, and read all.
                + operation.letter() + "'" + restriction + " ORDER BY claimed_until, revision LIMIT :limit")
            .params(parameters(plan))
            .param("check", after.nextCheck())
            .param("revision", after.revision())
            .param("limit", limit));
    }

    private static Map<String, ?> parameters(RestorePlan plan) {
        Map<String, Object> parameters = new HashMap<>();
        if (plan.queue() != null) {
            parameters.put("queue", plan.queue());
        }
        if (plan.id() != null) {
            parameters.put("id", plan.id());
        }
        if (plan.dueBefore() != null) {
            parameters.put("due", plan.dueBefore().toEpochMilli());
        }
        return parameters;
    }

    /**
     * Sets the next check of rows, unless another node did since they were read. This is
     * not a check of rows behind others.
     * @param next the delay until the next check of each row
     * @return the rows that this node is to check
     */
    List<JournalRow> postpone(List<JournalRow> rows, Function<JournalRow, Duration> next) {
        if (rows.isEmpty()) {
            return List.of();
        }
        List<JournalRow> sorted = rows.stream().sorted(Comparator.comparingLong(JournalRow::revision)).toList();
        int[] changed = batch("""
                UPDATE delayqueue_journal SET checks = :checks, claimed_until = $now + :span
                WHERE revision = :revision AND claimed_until = :seen""",
                sorted.stream()
                    .map((row) -> parameters(row.revision()).addValue("span", next.apply(row).toMillis())
                        .addValue("checks", row.checks() + (row.behind() ? 0 : 1))
                        .addValue("seen", row.nextCheck()))
                    .toList());
        return IntStream.range(0, sorted.size()).filter((i) -> changed[i] != 0).mapToObj(sorted::get).toList();
    }

    /**
     * Records that the store has applied requests whose rows are kept, unless another
     * node recorded it first: the row may have changed since.
     */
    void accept(List<AcceptedRequest> accepted) {
        if (!accepted.isEmpty()) {
            batch("""
                    UPDATE delayqueue_journal SET accepted = TRUE, checks = 0, due_millis = COALESCE(:due, due_millis),
                      due_relative = :relative, claimed_until = $now + :span
                    WHERE revision = :revision AND accepted = FALSE""",
                    accepted.stream()
                        .sorted(Comparator.comparingLong(AcceptedRequest::revision))
                        .map((row) -> parameters(row.revision()).addValue("due", row.due(), Types.BIGINT)
                            .addValue("relative", false)
                            .addValue("span", row.nextCheck().toMillis()))
                        .toList());
        }
    }

    /**
     * Deletes a request to reschedule a message, and gives the row of the message its due
     * time, unless another node has taken the request over: the message may have been
     * rescheduled again since.
     */
    void reschedule(long request, long message, long due, Duration nextCheck) {
        MapSqlParameterSource row = parameters(message).addValue("due", due)
            .addValue("span", nextCheck.toMillis())
            .addValue("request", request);
        String update = """
                UPDATE delayqueue_journal SET checks = 0, due_millis = :due, due_relative = FALSE,
                  claimed_until = $now + :span WHERE revision = :revision""";
        String complete = update.replace("$now", dialect().now());
        inOwnTransaction(() -> (this.named
            .update("DELETE FROM delayqueue_journal WHERE revision = :request AND claimed_by = :node", row) != 0)
                    ? this.named.update(complete, row) : 0);
    }

    /** Returns the queues that have rows, one index lookup for each. */
    List<QueueName> queues() {
        List<QueueName> queues = new ArrayList<>();
        String last = "";
        while (true) {
            String after = last;
            Optional<String> next = inOwnTransaction(() -> statement("""
                    SELECT MIN(queue_name) FROM delayqueue_journal
                    WHERE namespace = :namespace AND queue_name > :after""").param("after", after)
                .query((row, number) -> Optional.ofNullable(row.getString(1)))
                .single());
            if (next.isEmpty()) {
                return queues;
            }
            last = next.get();
            queues.add(new QueueName(last));
        }
    }

    private List<JournalRow> rows(Supplier<StatementSpec> query) {
        return inOwnTransaction(() -> query.get().query((row, number) -> JournalRowReader.readOrEmpty(row)).list())
            .stream()
            .flatMap(Optional::stream)
            .toList();
    }

    /**
     * Returns the first rows of a query, until their messages reach the limit of bytes.
     */
    private List<JournalRow> page(Supplier<StatementSpec> query) {
        ResultSetExtractor<List<JournalRow>> reader = (result) -> {
            List<JournalRow> rows = new ArrayList<>();
            for (long bytes = 0; bytes < BYTES_LIMIT && result.next();) {
                JournalRow row = JournalRowReader.readOrEmpty(result).orElse(null);
                if (row != null) {
                    rows.add(row);
                    bytes += row.size();
                }
            }
            return rows;
        };
        return inOwnTransaction(() -> query.get().withFetchSize(BATCH_LIMIT).query(reader));
    }

    /**
     * Claims rows that belong to no node any more and are the earliest of their ids.
     * Others wait for a delay if they could conceal such rows.
     * @return their revisions, at most {@link #BATCH_LIMIT} and none only if there are
     * none; another node may claim some of them first
     */
    List<Long> claimAbandoned(Duration delay) {
        while (true) {
            List<Long> first = new ArrayList<>();
            List<Long> behind = new ArrayList<>();
            boolean full = inOwnTransaction(
                    () -> statement("SELECT revision, " + BEHIND_PENDING + " FROM delayqueue_journal r " + """
                            WHERE namespace = :namespace AND accepted = FALSE AND claimed_until < (SELECT $now)
                            ORDER BY claimed_until LIMIT :limit""").param("limit", BATCH_LIMIT)
                        .query((row, number) -> (row.getBoolean("behind") ? behind : first)
                            .add(row.getLong("revision")))
                        .list())
                .size() == BATCH_LIMIT;
            if (full) {
                claim(behind, delay);
            }
            claim(first, this.claim);
            if (!first.isEmpty() || !full) {
                return first.stream().sorted().toList();
            }
        }
    }

    private void claim(List<Long> revisions, Duration span) {
        if (!revisions.isEmpty()) {
            update("""
                    UPDATE delayqueue_journal SET claimed_by = :node, claimed_until = $now + :span
                    WHERE revision = :revision AND accepted = FALSE AND claimed_until < $now""", revisions, span);
        }
    }

    /** Deletes requests of this node, unless another node has taken them over. */
    void deleteOwn(Collection<Long> revisions) {
        if (!revisions.isEmpty()) {
            update("""
                    DELETE FROM delayqueue_journal
                    WHERE revision = :revision AND accepted = FALSE AND claimed_by = :node""", revisions,
                    Duration.ZERO);
        }
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
                    WHERE revision = :revision AND claimed_by = :node AND accepted = FALSE""", revisions, delay);
        }
    }

    /**
     * Runs a statement for each row, by its key alone, as a range could lock further
     * rows.
     */
    private void update(String sql, Collection<Long> revisions, Duration span) {
        batch(sql,
                revisions.stream()
                    .sorted()
                    .map((revision) -> parameters(revision).addValue("span", span.toMillis()))
                    .toList());
    }

    private int[] batch(String sql, List<MapSqlParameterSource> rows) {
        String complete = sql.replace("$now", dialect().now());
        return inOwnTransaction(() -> this.named.batchUpdate(complete, rows.toArray(MapSqlParameterSource[]::new)));
    }

    private MapSqlParameterSource parameters(long revision) {
        return new MapSqlParameterSource("revision", revision).addValue("node", this.node)
            .addValue("now", JournalDialect.time());
    }

    <T> T inOwnTransaction(Supplier<T> statements) {
        try {
            return Objects.requireNonNull(this.own.execute((status) -> statements.get()));
        }
        catch (CannotCreateTransactionException ex) {
            throw new DataAccessResourceFailureException("The journal has no connection to its database", ex);
        }
    }

    StatementSpec statement(String sql) {
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

}
