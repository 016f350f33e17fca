package io.delayqueue.journal;

import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.journal.JournalDatabase.StatementSettings;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;

/**
 * Reads and writes the rows of requests. A row belongs to one node at a time: the one
 * that inserted it, or the one that claimed it after that claim ran out, on the
 * database's clock.
 * <p>
 * {@link #insert} joins the transaction of the calling thread if there is one; all other
 * methods have transactions of their own. Thread-safe.
 */
final class JournalTable {

    /** Maximum number of rows of one statement. */
    static final int BATCH_LIMIT = 100;

    /** The longest claim of a node. */
    static final Duration MAX_CLAIM = Duration.ofMinutes(1);

    /** Exceeds each claim of a node. */
    private static final Duration DISTANT_CLAIM = MAX_CLAIM.multipliedBy(10);

    /** How long an accepted row rests that this version cannot read. */
    private static final Duration UNREADABLE_DELAY = Duration.ofHours(1);

    /** Maximum size of the messages of a page, besides the last one, in bytes. */
    static final long BYTES_LIMIT = 8 * 1024 * 1024;

    private static final String COLUMNS = "revision, queue_name, message_id, operation, on_duplicate, due_millis, "
            + "due_relative, recorded_at, priority, ttl_millis, group_name, envelope, accepted, checks, claimed_until, "
            + "failures, retry_millis";

    private static final String OF_SAME_ID = "FROM delayqueue_journal o WHERE o.namespace = r.namespace "
            + "AND o.queue_name = r.queue_name AND o.message_id = r.message_id AND ";

    /**
     * Counts rows {@code o} of the same id as row {@code r}. A database cannot turn this
     * into a join, whose plan would be quadratic for a table that has grown since its
     * statistics were collected.
     */
    static final String COUNT_OF_SAME_ID = "(SELECT COUNT(*) " + OF_SAME_ID;

    /**
     * Selects rows that are not accepted, as no index can: only that of ids is suitable.
     */
    static final String PENDING = "CASE WHEN o.accepted THEN 0 ELSE 1 END = 1";

    /** Ends at the first such row, as an id may have many requests. */
    private static final String BEHIND_PENDING = "(SELECT 1 " + OF_SAME_ID + "o.revision < r.revision AND " + PENDING
            + " LIMIT 1) IS NOT NULL AS behind";

    private static final String PENDING_ROWS = "SELECT " + COLUMNS + ", $now AS read_at, " + BEHIND_PENDING + ", "
            + COUNT_OF_SAME_ID + "o.revision > r.revision AND NOT (" + PENDING + ")) > 0 AS superseded" + """
                     FROM delayqueue_journal r
                    WHERE revision IN (:revisions) AND claimed_by = :node AND claimed_until > $now + :rest
                    ORDER BY revision""";

    /**
     * The columns of an accepted row. It is behind an earlier message of its id, whose
     * successor it is, and behind a request that is to cancel, replace or reschedule it.
     */
    static final String ACCEPTED_COLUMNS = COLUMNS + ", $now AS read_at, " + COUNT_OF_SAME_ID + "(" + PENDING
            + " AND (o.operation NOT IN ('S', 'O') OR o.on_duplicate = 'REPLACE') OR NOT (" + PENDING
            + ") AND o.operation = 'S' AND o.revision < r.revision)) > 0 AS behind, FALSE AS superseded";

    static final StatementSettings PAGE = new StatementSettings(BATCH_LIMIT, -1);

    private final JournalDatabase database;

    private final JournalRowReader reader = new JournalRowReader();

    private final String node = UUID.randomUUID().toString();

    private final Duration claim;

    /**
     * Creates a table.
     * @param claim how long a row belongs to a node
     */
    JournalTable(JournalDatabase database, Duration claim) {
        this.database = database;
        this.claim = claim;
    }

    JournalDatabase database() {
        return this.database;
    }

    /** Returns the id of this process. */
    String node() {
        return this.node;
    }

    Duration claim() {
        return this.claim;
    }

    /**
     * Checks all tables of a ledger, without a row.
     * @throws IllegalStateException if one is missing or has other columns, or this user
     * has not all rights that the journal needs
     */
    void requireTables() {
        EnumSet.complementOf(EnumSet.of(JournalTableCheck.HISTORY))
            .forEach((table) -> this.database.requireTable(table, "'outbox' or 'ledger'"));
    }

    /**
     * Inserts requests, all or none, in a transaction of their own, and returns their
     * revisions.
     */
    List<Long> insertAlone(List<JournalRequest> requests) {
        return this.database.inNewTransaction(() -> requests.stream().map(this::insert).toList());
    }

    /** Inserts a request, claimed by this node, and returns its revision. */
    long insert(JournalRequest request) {
        NewMessage message = request.message();
        DueTime due = request.due();
        Duration timeToLive = (message != null) ? message.timeToLive() : null;
        KeyHolder key = new GeneratedKeyHolder();
        this.database.statement("""
                INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                  due_relative, recorded_at, priority, ttl_millis, group_name, envelope, accepted, checks, claimed_by,
                  claimed_until)
                VALUES (:namespace, :queue, :id, :operation, :onDuplicate, :due, :relative, $now, :priority, :ttl,
                  :group, :envelope, FALSE, 0, :node, $now + :claim)""")
            .param("queue", request.queue().value())
            .param("id", request.id())
            .param("operation", request.operation().letter())
            .param("onDuplicate", (message != null) ? message.onDuplicate().name() : null, Types.VARCHAR)
            .param("due", (due != null) ? due.millis() : null, Types.BIGINT)
            .param("relative", due != null && due.relative())
            .param("priority", (message != null) ? message.priority() : null, Types.SMALLINT)
            .param("ttl", (timeToLive != null) ? DueTime.ceilToMillis(timeToLive) : null, Types.BIGINT)
            .param("group", (message != null) ? message.group() : null, Types.VARCHAR)
            .param("envelope", (message != null) ? message.envelope() : null, Types.VARBINARY)
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
        return rows(PENDING_ROWS, Map.<String, Object>of("revisions", revisions, "node", this.node, "rest",
                this.claim.dividedBy(2).toMillis()))
            .stream()
            .filter((row) -> !row.accepted())
            .toList();
    }

    /** Returns the accepted rows of ids, in the order of revisions. */
    List<JournalRow> acceptedOf(QueueName queue, List<String> ids) {
        return rows(
                "SELECT " + COLUMNS + ", $now AS read_at, FALSE AS behind, FALSE AS superseded "
                        + "FROM delayqueue_journal o WHERE namespace = :namespace AND queue_name = :queue "
                        + "AND message_id IN (:ids) AND NOT (" + PENDING + ") ORDER BY revision",
                Map.<String, Object>of("queue", queue.value(), "ids", ids));
    }

    /** Returns those ids of a queue about which requests are not accepted. */
    List<String> pendingOf(QueueName queue, List<String> ids) {
        return this.database.query(() -> this.database
            .replanned("SELECT DISTINCT message_id FROM delayqueue_journal o WHERE namespace = :namespace "
                    + "AND queue_name = :queue AND message_id IN (:ids) AND " + PENDING)
            .param("queue", queue.value())
            .param("ids", ids)
            .query(String.class)
            .list());
    }

    /**
     * Returns accepted rows whose next check is over, the earliest first. Large ones are
     * fewer than the limit. Postpones those that cannot be read, so that they do not take
     * the place of others.
     */
    List<JournalRow> dueForCheck(int limit) {
        List<DueRevision> unreadable = new ArrayList<>();
        List<JournalRow> rows = inOwnTransaction(
                () -> this.database.replanned("SELECT " + ACCEPTED_COLUMNS + " FROM delayqueue_journal r " + """
                        WHERE namespace = :namespace AND accepted = TRUE AND claimed_until < (SELECT $now)
                        ORDER BY claimed_until LIMIT :limit""", PAGE)
                    .param("limit", limit)
                    .query(this.reader.page(unreadable)));
        if (!unreadable.isEmpty()) {
            update("UPDATE delayqueue_journal SET claimed_until = $now + :span WHERE revision = :revision",
                    unreadable.stream().map(DueRevision::revision).toList(), UNREADABLE_DELAY);
        }
        return rows;
    }

    /**
     * Returns a page of accepted sends, in the order of their next checks, which is about
     * that of their due times. Large ones are fewer than the limit.
     * @param dueAfter the earliest due time, in milliseconds since the epoch; 0 for any
     * @param after the last row of the page before
     * @param unreadable receives the keys of rows that cannot be read
     */
    List<JournalRow> acceptedSends(RestoreSelection selection, long dueAfter, RestoreCursor after, int limit,
            List<DueRevision> unreadable) {
        return page(unreadable,
                () -> this.database.replanned("SELECT " + ACCEPTED_COLUMNS + " FROM delayqueue_journal r "
                        + "WHERE namespace = :namespace AND accepted = TRUE AND claimed_until >= :check "
                        // As a parameter, PostgreSQL would expect few such rows, and read
                        // all.
                        + "AND (claimed_until > :check OR revision > :revision) AND operation = 'S'"
                        + ((dueAfter > 0) ? " AND due_millis > :dueAfter" : "") + selection.condition()
                        + " ORDER BY claimed_until, revision LIMIT :limit", PAGE)
                    .params(selection.parameters())
                    .param("check", after.position())
                    .param("revision", after.revision())
                    .param("dueAfter", dueAfter)
                    .param("limit", limit));
    }

    /**
     * Returns those of some rows that are accepted sends, in the order of their due
     * times. Large ones are fewer than the keys.
     */
    List<JournalRow> accepted(List<DueRevision> keys) {
        return page(() -> this.database
            .replanned("SELECT " + ACCEPTED_COLUMNS + " FROM delayqueue_journal r "
                    + "WHERE revision IN (:revisions) AND accepted = TRUE AND operation = 'S' "
                    + "ORDER BY due_millis, revision", PAGE)
            .param("revisions", keys.stream().map(DueRevision::revision).toList()));
    }

    /** Returns whether a queue has accepted rows. */
    boolean hasAccepted(QueueName queue) {
        return !this.database
            .query(() -> this.database.replanned("""
                    SELECT 1 FROM delayqueue_journal o
                    WHERE namespace = :namespace AND queue_name = :queue AND NOT (""" + PENDING + ") LIMIT 1")
                .param("queue", queue.value())
                .query(Integer.class)
                .list())
            .isEmpty();
    }

    /**
     * Sets the next check of rows, unless another node did since they were read.
     * @param next the delay until the next check of each row
     * @param counted whether this counts as a check of a row
     * @return the rows that this node is to check
     */
    List<JournalRow> postpone(List<JournalRow> rows, Function<JournalRow, Duration> next,
            Predicate<JournalRow> counted) {
        if (rows.isEmpty()) {
            return List.of();
        }
        List<JournalRow> sorted = rows.stream().sorted(Comparator.comparingLong(JournalRow::revision)).toList();
        int[] changed = batch("""
                UPDATE delayqueue_journal SET checks = :checks, claimed_until = $now + :span
                WHERE revision = :revision AND claimed_until = :seen""",
                sorted.stream()
                    .map((row) -> parameters(row.revision()).addValue("span", next.apply(row).toMillis())
                        .addValue("checks", row.checks() + (counted.test(row) ? 1 : 0))
                        .addValue("seen", row.nextCheck()))
                    .toList());
        return IntStream.range(0, sorted.size()).filter((i) -> changed[i] != 0).mapToObj(sorted::get).toList();
    }

    /**
     * Sets the next checks of accepted rows to five seconds from now, unless they are
     * earlier.
     */
    void checkSoon(List<JournalRow> rows) {
        if (!rows.isEmpty()) {
            update("""
                    UPDATE delayqueue_journal SET claimed_until = $now + :span
                    WHERE revision = :revision AND accepted = TRUE AND claimed_until > $now + :span""",
                    rows.stream().map(JournalRow::revision).toList(), LedgerSweep.SHORT_REST);
        }
    }

    /**
     * Records that the store has applied requests whose rows are kept, unless another
     * node recorded it first: the row may have changed since.
     */
    void accept(List<AcceptedRowUpdate> accepted) {
        change(List.of(), accepted);
    }

    /** Deletes rows whose requests the store has applied. */
    void delete(Collection<Long> revisions) {
        change(revisions, List.of());
    }

    /** Does both in one transaction. */
    void change(Collection<Long> deleted, List<AcceptedRowUpdate> accepted) {
        new AppliedRows(this.database).change(deleted, accepted);
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
                UPDATE delayqueue_journal SET checks = 0, due_millis = :due, due_relative = FALSE, retry_millis = NULL,
                  claimed_until = $now + :span WHERE revision = :revision""";
        inOwnTransaction(() -> (this.database
            .batch("DELETE FROM delayqueue_journal WHERE revision = :request AND claimed_by = :node", row)[0] != 0)
                    ? this.database.batch(update, row)[0] : 0);
    }

    /** Returns the queues that have rows. */
    List<QueueName> queues() {
        return this.database.queues("delayqueue_journal");
    }

    private List<JournalRow> rows(String sql, Map<String, ?> parameters) {
        return this.database
            .query(() -> this.database.replanned(sql)
                .params(parameters)
                .query((row, number) -> this.reader.readOrEmpty(row))
                .list())
            .stream()
            .flatMap(Optional::stream)
            .toList();
    }

    /**
     * Returns the first rows of a query, until their messages reach {@link #BYTES_LIMIT}.
     */
    List<JournalRow> page(Supplier<StatementSpec> query) {
        return page(new ArrayList<>(), query);
    }

    private List<JournalRow> page(List<DueRevision> unreadable, Supplier<StatementSpec> query) {
        return inOwnTransaction(() -> query.get().query(this.reader.page(unreadable)));
    }

    /**
     * Ends claims that last longer than any node claims a row: the database's clock was
     * set back.
     */
    void endDistantClaims() {
        List<Long> distant = this.database.query(() -> this.database.replanned("""
                SELECT revision FROM delayqueue_journal
                WHERE namespace = :namespace AND accepted = FALSE AND claimed_until > (SELECT $now) + :distant
                ORDER BY claimed_until LIMIT :limit""")
            .param("distant", DISTANT_CLAIM.toMillis())
            .param("limit", BATCH_LIMIT)
            .query(Long.class)
            .list());
        if (!distant.isEmpty()) {
            update("""
                    UPDATE delayqueue_journal SET claimed_until = $now - 1
                    WHERE revision = :revision AND accepted = FALSE AND claimed_until > $now + :span""", distant,
                    DISTANT_CLAIM);
        }
    }

    /** Returns requests that belong to no node, at most {@link #BATCH_LIMIT}. */
    List<AbandonedRequests.Row> abandoned() {
        return this.database
            .query(() -> this.database.replanned("SELECT revision, queue_name, message_id, " + BEHIND_PENDING + """
                     FROM delayqueue_journal r
                    WHERE namespace = :namespace AND accepted = FALSE AND claimed_until < (SELECT $now)
                    ORDER BY claimed_until LIMIT :limit""")
                .param("limit", BATCH_LIMIT)
                .query((row, number) -> new AbandonedRequests.Row(row.getLong("revision"),
                        new RequestsBehind.Id(row.getString("queue_name"), row.getString("message_id")),
                        row.getBoolean("behind")))
                .list());
    }

    /** Claims requests that belong to no node, unless another node claims them first. */
    void claim(List<Long> revisions, Duration span) {
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
        return inOwnTransaction(() -> this.database.batch(sql, rows.toArray(MapSqlParameterSource[]::new)));
    }

    private MapSqlParameterSource parameters(long revision) {
        return new MapSqlParameterSource("revision", revision).addValue("node", this.node);
    }

    private <T> T inOwnTransaction(Supplier<T> statements) {
        return this.database.inOwnTransaction(statements);
    }

}
