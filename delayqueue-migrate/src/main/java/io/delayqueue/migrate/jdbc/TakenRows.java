package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.MessageLimits;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.migrate.EntryPage;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceInUseException;
import io.delayqueue.migrate.SourceSchedule;
import io.delayqueue.migrate.SourceStatus;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps the entries that were taken, in two tables of the database of the source: one row
 * for each entry until {@code finish}, and one for each queue.
 */
final class TakenRows {

    static final String ENTRIES = "delayqueue_migrate";

    static final String QUEUES = "delayqueue_migrate_queue";

    /** The columns of the indexes of the entries, by the name of the index. */
    private static final Map<String, String> INDEXES = Map.of("delayqueue_migrate_state", "(source, queue, state)",
            "delayqueue_migrate_business", "(source, queue, business_id)");

    /** Ends the source of a row that holds options of the source, and no queue. */
    private static final String OPTIONS = ":options";

    private static final int MAX_OPTIONS = 200;

    private static final long OWNED_MILLIS = 10_000;

    /** Databases limit the arguments of a statement. */
    private static final int IDS_AT_ONCE = 500;

    private static final String TOKEN = UUID.randomUUID().toString();

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private static final String COLUMNS = "id, due, payload, business_id, headers, problem, schedule";

    private final String source;

    private final InstantSource clock;

    TakenRows(String source, InstantSource clock) {
        this.source = source;
        this.clock = clock;
    }

    /**
     * Creates the tables, unless they exist. The one of the queues is the first: most
     * databases commit after each statement, and where there are entries, their queue is
     * read as well.
     */
    static void create(Connection connection) throws SQLException {
        if (!Database.hasTable(connection, QUEUES)) {
            Database.update(connection, """
                    CREATE TABLE delayqueue_migrate_queue (
                      source VARCHAR(20) NOT NULL, queue VARCHAR(200) NOT NULL, owner VARCHAR(40),
                      owned_until BIGINT NOT NULL, taken BIGINT NOT NULL, repeated BIGINT NOT NULL,
                      kept BIGINT NOT NULL, renamed BIGINT NOT NULL, PRIMARY KEY (source, queue))"""
                    + Database.tableOptions(connection));
        }
        if (!Database.hasTable(connection, ENTRIES)) {
            createEntries(connection);
        }
    }

    /** Creates the table of the entries, with its indexes. */
    private static void createEntries(Connection connection) throws SQLException {
        // MariaDB and MySQL require one more privilege for an index that is added later.
        boolean atOnce = Database.isMySql(connection);
        String indexes = atOnce ? indexes() : "";
        Database.update(connection, """
                CREATE TABLE delayqueue_migrate (
                  source VARCHAR(20) NOT NULL, queue VARCHAR(200) NOT NULL, id VARCHAR(40) NOT NULL,
                  due BIGINT, payload %s, business_id VARCHAR(500), headers VARCHAR(2000),
                  problem VARCHAR(500), schedule VARCHAR(1000), state VARCHAR(12) NOT NULL,
                  reason VARCHAR(500),
                  %sPRIMARY KEY (source, queue, id))""".formatted(Database.bytesType(connection), indexes)
                + Database.tableOptions(connection));
        for (Map.Entry<String, String> index : INDEXES.entrySet()) {
            if (!atOnce) {
                Database.update(connection,
                        "CREATE INDEX %s ON delayqueue_migrate %s".formatted(index.getKey(), index.getValue()));
            }
        }
    }

    private static String indexes() {
        return INDEXES.entrySet()
            .stream()
            .map((index) -> "INDEX %s %s, ".formatted(index.getKey(), index.getValue()))
            .collect(Collectors.joining());
    }

    /** Returns the queues from which entries were taken. */
    List<String> queues(Connection connection) throws SQLException {
        return !Database.hasTable(connection, QUEUES) ? List.of() : Database.query(connection,
                (row) -> row.getString(1), "SELECT queue FROM delayqueue_migrate_queue WHERE source = ?", this.source);
    }

    /**
     * Checks that entries were taken with the options of this run. Entries that were
     * taken from other tables would be sent to the queues of this run.
     * @param options the options, or their known beginning; "" if records of all options
     * are the same
     * @throws IllegalArgumentException if others are recorded
     */
    void requireOptions(Connection connection, String options) throws SQLException {
        List<String> recorded = options.isEmpty() ? List.of() : recordedOptions(connection);
        if (!recorded.isEmpty() && recorded.stream().noneMatch((each) -> each.startsWith(truncated(options)))) {
            throw new IllegalArgumentException(("Source '%s' has records of entries that were taken with %s: give the "
                    + "same by --source-option=NAME=VALUE, or finish that migration first")
                .formatted(this.source, String.join(" and with ", recorded)));
        }
    }

    /** Records the options with which entries are taken, and checks them. */
    void recordOptions(Connection connection, String options) throws SQLException {
        requireOptions(connection, options);
        if (!options.isEmpty() && recordedOptions(connection).isEmpty()) {
            insert(connection, this.source + OPTIONS, truncated(options), "", 0);
        }
    }

    private List<String> recordedOptions(Connection connection) throws SQLException {
        return new TakenRows(this.source + OPTIONS, this.clock).queues(connection);
    }

    private static String truncated(String options) {
        return options.substring(0, Math.min(options.length(), MAX_OPTIONS));
    }

    /**
     * Makes this process the owner of a queue, or extends that. Locks the row of the
     * queue until the end of the transaction.
     * @throws SourceInUseException if another process is
     */
    void own(Connection connection, String queue) throws SQLException {
        long now = this.clock.millis();
        int owned = Database.update(connection,
                "UPDATE delayqueue_migrate_queue SET owner = ?, owned_until = ? WHERE source = ? AND queue = ? "
                        + "AND (owner = ? OR owner IS NULL OR owned_until < ?)",
                TOKEN, now + OWNED_MILLIS, this.source, queue, TOKEN, now);
        if (owned == 0) {
            if (exists(connection, queue)) {
                throw new SourceInUseException(queue);
            }
            insert(connection, this.source, queue, TOKEN, now + OWNED_MILLIS);
        }
    }

    private static void insert(Connection connection, String source, String queue, String owner, long until)
            throws SQLException {
        Database.update(connection, "INSERT INTO delayqueue_migrate_queue VALUES (?, ?, ?, ?, 0, 0, 0, 0)", source,
                queue, owner, until);
    }

    private boolean exists(Connection connection, String queue) throws SQLException {
        return !Database
            .query(connection, (row) -> row.getString(1),
                    "SELECT queue FROM delayqueue_migrate_queue WHERE source = ? AND queue = ?", this.source, queue)
            .isEmpty();
    }

    /** Adds entries. Call it in the transaction that removes them from the source. */
    void add(Connection connection, String queue, List<SourceEntry> entries) throws SQLException {
        if (entries.isEmpty()) {
            return;
        }
        List<Object[]> rows = new ArrayList<>(entries.size());
        for (SourceEntry entry : entries) {
            rows.add(new Object[] { this.source, queue, entry.id(),
                    (entry.dueAt() != null) ? entry.dueAt().toEpochMilli() : null, entry.payload(), entry.businessId(),
                    MAPPER.writeValueAsString(entry.headers()), entry.problem(), text(entry.schedule()), "pending" });
        }
        Database.updateEach(connection, "INSERT INTO delayqueue_migrate (source, queue, " + COLUMNS
                + ", state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows);
        count(connection, queue, "taken", entries.size());
    }

    /** Returns what an earlier call with this batch took. */
    List<SourceEntry> takenBefore(Connection connection, String queue, String batch) throws SQLException {
        if (entries(connection, queue, " AND id = ?", batch + "-1").isEmpty()) {
            return List.of();
        }
        List<SourceEntry> entries = new ArrayList<>();
        for (int i = 1;; i++) {
            List<SourceEntry> next = entries(connection, queue, " AND id = ?", batch + "-" + i);
            if (next.isEmpty()) {
                return entries;
            }
            entries.addAll(next);
        }
    }

    List<SourceEntry> unsettled(Connection connection, String queue, int limit) throws SQLException {
        return entries(connection, queue, " AND state = ? ORDER BY id" + Database.limit(connection, limit), "pending");
    }

    EntryPage sent(Connection connection, String queue, @Nullable String cursor, int limit) throws SQLException {
        if (!Database.hasTable(connection, ENTRIES)) {
            return new EntryPage(List.of(), null);
        }
        List<SourceEntry> page = Database.query(connection, TakenRows::entry,
                "SELECT " + COLUMNS
                        + " FROM delayqueue_migrate WHERE source = ? AND queue = ? AND state = ? AND id > ? "
                        + "ORDER BY id" + Database.limit(connection, limit),
                this.source, queue, "sent", (cursor != null) ? cursor : "");
        return new EntryPage(page, (page.size() < limit) ? null : page.get(page.size() - 1).id());
    }

    private List<SourceEntry> entries(Connection connection, String queue, String condition, String value)
            throws SQLException {
        return Database.query(connection, TakenRows::entry,
                "SELECT " + COLUMNS + " FROM delayqueue_migrate WHERE source = ? AND queue = ?" + condition,
                this.source, queue, value);
    }

    private static SourceEntry entry(ResultSet row) throws SQLException {
        Object due = row.getObject(2);
        byte[] payload = row.getBytes(3);
        Map<String, String> headers = new LinkedHashMap<>();
        MAPPER.readTree(row.getString(5)).forEachEntry((name, value) -> headers.put(name, value.asString()));
        return new SourceEntry(row.getString(1),
                (due != null) ? Instant.ofEpochMilli(((Number) due).longValue()) : null,
                (payload != null) ? payload : new byte[0], row.getString(4), MessageLimits.NORMAL_PRIORITY, headers,
                row.getString(6), null, schedule(row.getString(7)));
    }

    private static @Nullable String text(@Nullable SourceSchedule schedule) {
        return (schedule == null) ? null : MAPPER.writeValueAsString(Map.of("cron", schedule.cron(), "zone",
                schedule.zone().getId(), "misfire", schedule.misfire().name(), "overlap", schedule.overlap().name()));
    }

    private static @Nullable SourceSchedule schedule(@Nullable String text) {
        if (text == null) {
            return null;
        }
        JsonNode json = MAPPER.readTree(text);
        return new SourceSchedule(json.get("cron").asString(), ZoneId.of(json.get("zone").asString()),
                MisfirePolicy.valueOf(json.get("misfire").asString()),
                OverlapPolicy.valueOf(json.get("overlap").asString()));
    }

    /** Returns those ids of the source whose entries were taken. */
    Set<String> held(Connection connection, String queue, Collection<String> businessIds) throws SQLException {
        List<String> all = List.copyOf(businessIds);
        Set<String> held = new TreeSet<>();
        for (int first = 0; first < all.size(); first += IDS_AT_ONCE) {
            List<Object> arguments = new ArrayList<>(List.of(this.source, queue));
            arguments.addAll(all.subList(first, Math.min(all.size(), first + IDS_AT_ONCE)));
            String places = String.join(", ", Collections.nCopies(arguments.size() - 2, "?"));
            held.addAll(Database.query(connection, (row) -> row.getString(1),
                    "SELECT business_id FROM delayqueue_migrate WHERE source = ? AND queue = ? AND business_id IN ("
                            + places + ")",
                    arguments.toArray()));
        }
        // A column may have a collation that ignores case, accents or spaces at the end.
        held.retainAll(businessIds);
        return held;
    }

    void settle(Connection connection, String queue, List<EntryOutcome> outcomes) throws SQLException {
        own(connection, queue);
        Database.updateEach(connection,
                "UPDATE delayqueue_migrate SET state = ?, reason = ? "
                        + "WHERE source = ? AND queue = ? AND id = ? AND state IN ('pending', 'unreadable')",
                outcomes.stream()
                    .map((outcome) -> new Object[] { outcome.outcome().name().toLowerCase(Locale.ROOT),
                            shortened(outcome.reason()), this.source, queue, outcome.id() })
                    .toList());
    }

    private static @Nullable String shortened(@Nullable String reason) {
        return (reason != null) ? reason.substring(0, Math.min(reason.length(), 400)) : null;
    }

    void reopen(Connection connection, String queue) throws SQLException {
        own(connection, queue);
        Database.update(connection, "UPDATE delayqueue_migrate SET state = 'pending' "
                + "WHERE source = ? AND queue = ? AND state = 'unreadable'", this.source, queue);
    }

    /** Adds to a count, which is the name of a column. */
    void count(Connection connection, String queue, String name, long number) throws SQLException {
        if (!List.of("taken", "repeated", "kept", "renamed").contains(name)) {
            throw new IllegalArgumentException("Count '%s' is not known".formatted(name));
        }
        Database.update(connection,
                "UPDATE delayqueue_migrate_queue SET %1$s = %1$s + ? WHERE source = ? AND queue = ?".formatted(name),
                number, this.source, queue);
    }

    /** Returns the status of a queue, with the counts of the source. */
    SourceStatus status(Connection connection, String queue, Waiting waiting) throws SQLException {
        Map<String, Long> states = new TreeMap<>();
        Map<String, Long> counts = new TreeMap<>();
        long taken = 0;
        if (Database.hasTable(connection, ENTRIES)) {
            Database.query(connection, (row) -> states.put(row.getString(1), row.getLong(2)),
                    "SELECT state, COUNT(*) FROM delayqueue_migrate WHERE source = ? AND queue = ? GROUP BY state",
                    this.source, queue);
            List<Long> numbers = Database.query(connection,
                    (row) -> IntStream.range(1, 5).mapToObj((column) -> number(row, column)).toList(),
                    "SELECT taken, repeated, kept, renamed FROM delayqueue_migrate_queue WHERE source = ? AND queue = ?",
                    this.source, queue)
                .stream()
                .findFirst()
                .orElse(List.of(0L, 0L, 0L, 0L));
            taken = numbers.get(0);
            putPositive(counts, "repeated", numbers.get(1));
            putPositive(counts, "kept", numbers.get(2));
            putPositive(counts, "renamed", numbers.get(3));
            putPositive(counts, "schedules sent", schedulesSent(connection, queue));
        }
        putPositive(counts, "schedules waiting", waiting.schedules());
        return new SourceStatus(waiting.number(), waiting.firstDue(), waiting.lastDue(), taken,
                states.getOrDefault("pending", 0L), states.getOrDefault("sent", 0L), states.getOrDefault("dropped", 0L),
                states.getOrDefault("unreadable", 0L), counts, waiting.left());
    }

    private long schedulesSent(Connection connection, String queue) throws SQLException {
        return Database.query(connection, (row) -> row.getLong(1),
                "SELECT COUNT(*) FROM delayqueue_migrate WHERE source = ? AND queue = ? AND state = ? "
                        + "AND schedule IS NOT NULL",
                this.source, queue, "sent")
            .get(0);
    }

    private static long number(ResultSet row, int column) {
        try {
            return row.getLong(column);
        }
        catch (SQLException ex) {
            throw new Database.DatabaseException(ex);
        }
    }

    private static void putPositive(Map<String, Long> counts, String name, long number) {
        if (number > 0) {
            counts.put(name, number);
        }
    }

    /**
     * Deletes the rows of a queue, and the tables with the last one. Call it in the
     * transaction that makes this process the owner.
     * @throws SourceInUseException if entries are pending: another process has taken them
     * since the status was read
     */
    void finish(Connection connection, String queue) throws SQLException {
        if (!unsettled(connection, queue, 1).isEmpty()) {
            throw new SourceInUseException(queue);
        }
        Database.update(connection, "DELETE FROM delayqueue_migrate WHERE source = ? AND queue = ?", this.source,
                queue);
        Database.update(connection, "DELETE FROM delayqueue_migrate_queue WHERE source = ? AND queue = ?", this.source,
                queue);
        if (queues(connection).isEmpty()) {
            Database.update(connection, "DELETE FROM delayqueue_migrate_queue WHERE source = ?", this.source + OPTIONS);
        }
        if (Database.query(connection, (row) -> row.getString(1), "SELECT queue FROM delayqueue_migrate_queue")
            .isEmpty()) {
            Database.update(connection, "DROP TABLE delayqueue_migrate");
            Database.update(connection, "DROP TABLE delayqueue_migrate_queue");
        }
    }

    /**
     * Holds what the source knows about a queue.
     *
     * @param number entries that can be taken
     * @param firstDue the earliest due time of those; {@code null} if none waits
     * @param lastDue the latest due time of those; {@code null} if none waits
     * @param left entries that stay, by the reason
     * @param schedules those of {@code number} that become schedules
     */
    record Waiting(long number, @Nullable Instant firstDue, @Nullable Instant lastDue, Map<String, Long> left,
            long schedules) {

        /** Describes a queue without entries that become schedules. */
        Waiting(long number, @Nullable Instant firstDue, @Nullable Instant lastDue, Map<String, Long> left) {
            this(number, firstDue, lastDue, left, 0);
        }

    }

}
