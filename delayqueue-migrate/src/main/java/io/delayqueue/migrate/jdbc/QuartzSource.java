package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Moves the triggers of Quartz that fire once. The queues of this source are the classes
 * of the jobs, as names only. All other triggers stay, and are counted by the reason.
 * <p>
 * A scheduler acquires a trigger by changing its state from {@code WAITING}, and in a
 * cluster under the row lock {@code TRIGGER_ACCESS}. So does the take: a trigger is
 * acquired or taken.
 */
public final class QuartzSource extends JdbcSource {

    private static final String ONCE = "t.TRIGGER_STATE = 'WAITING' AND t.TRIGGER_TYPE = 'SIMPLE' "
            + "AND t.CALENDAR_NAME IS NULL AND t.NEXT_FIRE_TIME IS NOT NULL AND s.REPEAT_COUNT = 0";

    private static final String JOINED = "FROM %1$sTRIGGERS t JOIN %1$sJOB_DETAILS j ON j.SCHED_NAME = t.SCHED_NAME "
            + "AND j.JOB_NAME = t.JOB_NAME AND j.JOB_GROUP = t.JOB_GROUP "
            + "LEFT JOIN %1$sSIMPLE_TRIGGERS s ON s.SCHED_NAME = t.SCHED_NAME AND s.TRIGGER_NAME = t.TRIGGER_NAME "
            + "AND s.TRIGGER_GROUP = t.TRIGGER_GROUP WHERE t.SCHED_NAME = ? AND j.JOB_CLASS_NAME = ? ";

    private static final String COLUMNS = "SELECT t.TRIGGER_NAME, t.TRIGGER_GROUP, t.JOB_NAME, t.JOB_GROUP, "
            + "t.NEXT_FIRE_TIME, j.JOB_DATA, t.JOB_DATA, j.IS_DURABLE ";

    private static final String KEY = " WHERE SCHED_NAME = ? AND TRIGGER_NAME = ? AND TRIGGER_GROUP = ?";

    /** The last trigger that was taken, by queue: the triggers are read by their key. */
    private final Map<String, Trigger> positions = new HashMap<>();

    private String prefix = "QRTZ_";

    private @Nullable String scheduler;

    public QuartzSource() {
        super("quartz");
    }

    @Override
    public void open(SourceOptions options) {
        this.prefix = options.setting("table-prefix").orElse(this.prefix);
        if (!this.prefix.matches("[A-Za-z0-9_.]*")) {
            throw new IllegalArgumentException(
                    "--source-option=table-prefix=%s is not valid: use letters, digits, '_' and '.'"
                        .formatted(this.prefix));
        }
        this.scheduler = options.setting("scheduler").orElse(null);
        super.open(options);
    }

    @Override
    List<String> queues(Connection connection) throws SQLException {
        return Database.query(connection, (row) -> row.getString(1), sql(
                "SELECT DISTINCT j.JOB_CLASS_NAME FROM %1$sJOB_DETAILS j JOIN %1$sTRIGGERS t ON j.SCHED_NAME = t.SCHED_NAME "
                        + "AND j.JOB_NAME = t.JOB_NAME AND j.JOB_GROUP = t.JOB_GROUP WHERE t.SCHED_NAME = ?"),
                scheduler(connection));
    }

    /** Returns the name of the scheduler; there must be only one, unless it is given. */
    private String scheduler(Connection connection) throws SQLException {
        if (this.scheduler == null) {
            List<String> names = Database.query(connection, (row) -> row.getString(1),
                    sql("SELECT DISTINCT SCHED_NAME FROM %1$sJOB_DETAILS"));
            if (names.size() > 1) {
                throw new IllegalArgumentException(
                        "--source-option=scheduler=NAME is needed, because the tables have %s".formatted(names));
            }
            if (names.isEmpty()) {
                return "";
            }
            this.scheduler = names.get(0);
        }
        return this.scheduler;
    }

    @Override
    TakenRows.Waiting waiting(Connection connection, String queue) throws SQLException {
        String name = scheduler(connection);
        Map<String, Long> left = new LinkedHashMap<>();
        Database.query(connection, (row) -> left.merge(row.getString(1), row.getLong(2), Long::sum),
                sql("SELECT " + reason() + ", COUNT(*) " + JOINED + "GROUP BY " + reason()), name, queue);
        Long number = left.remove("moved");
        return Database
            .query(connection,
                    (row) -> new TakenRows.Waiting((number != null) ? number : 0, instant(row, 1), instant(row, 2),
                            left),
                    sql("SELECT MIN(t.NEXT_FIRE_TIME), MAX(t.NEXT_FIRE_TIME) " + JOINED + "AND " + ONCE), name, queue)
            .get(0);
    }

    private static String reason() {
        return "CASE WHEN " + ONCE + " THEN 'moved' "
                + "WHEN t.TRIGGER_STATE IN ('ACQUIRED', 'EXECUTING', 'BLOCKED', 'COMPLETE') THEN 'fired by Quartz now' "
                + "WHEN t.TRIGGER_STATE <> 'WAITING' THEN 'paused, or in state ERROR' "
                + "WHEN t.CALENDAR_NAME IS NOT NULL THEN 'with a calendar' "
                + "WHEN t.TRIGGER_TYPE = 'SIMPLE' THEN 'repeating: replace them by schedules' "
                + "WHEN t.TRIGGER_TYPE = 'CRON' THEN 'cron: replace them by schedules' "
                + "WHEN t.TRIGGER_TYPE = 'BLOB' THEN 'of an own class' ELSE 'with a calendar interval' END";
    }

    private static @Nullable Instant instant(ResultSet row, int column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    @Override
    public List<SourceEntry> peek(String queue, long offset, int limit) {
        return database().inTransaction((connection) -> {
            List<SourceEntry> entries = new ArrayList<>();
            Database
                .query(connection, Trigger::read,
                        sql(COLUMNS + JOINED + "AND " + ONCE + " ORDER BY t.TRIGGER_NAME, t.TRIGGER_GROUP OFFSET "
                                + offset + " ROWS") + Database.limit(connection, limit).replace(" OFFSET 0 ROWS", ""),
                        scheduler(connection), queue)
                .forEach((trigger) -> entries.add(trigger.entry(Integer.toString(entries.size() + 1))));
            return entries;
        });
    }

    @Override
    List<SourceEntry> remove(Connection connection, String queue, String batch, int limit) throws SQLException {
        String name = scheduler(connection);
        Database.query(connection, (row) -> row.getString(1),
                sql("SELECT LOCK_NAME FROM %1$sLOCKS WHERE SCHED_NAME = ? AND LOCK_NAME = 'TRIGGER_ACCESS' FOR UPDATE"),
                name);
        List<Trigger> claimed = claim(connection, name, page(connection, name, queue, limit));
        List<SourceEntry> entries = new ArrayList<>(claimed.size());
        List<Object[]> keys = new ArrayList<>(claimed.size());
        Set<List<String>> jobs = new LinkedHashSet<>();
        for (Trigger trigger : claimed) {
            entries.add(trigger.entry(batch + "-" + (entries.size() + 1)));
            keys.add(new Object[] { name, trigger.name(), trigger.group() });
            if (!trigger.durable()) {
                jobs.add(List.of(trigger.job(), trigger.jobGroup()));
            }
        }
        if (!keys.isEmpty()) {
            Database.updateEach(connection, sql("DELETE FROM %1$sSIMPLE_TRIGGERS" + KEY), keys);
            Database.updateEach(connection, sql("DELETE FROM %1$sTRIGGERS" + KEY), keys);
            deleteJobs(connection, name, jobs);
        }
        return entries;
    }

    /**
     * Reads triggers behind the last ones, and from the first one after the end. So the
     * rows of those that were deleted before are not scanned again.
     */
    private List<Trigger> page(Connection connection, String name, String queue, int limit) throws SQLException {
        Trigger last = this.positions.get(queue);
        String order = " ORDER BY t.TRIGGER_NAME, t.TRIGGER_GROUP" + Database.limit(connection, limit);
        List<Trigger> page = List.of();
        if (last != null) {
            page = Database.query(
                    connection, Trigger::read, sql(COLUMNS + JOINED + "AND " + ONCE
                            + " AND t.TRIGGER_NAME >= ? AND (t.TRIGGER_NAME > ? OR " + "t.TRIGGER_GROUP > ?)" + order),
                    name, queue, last.name(), last.name(), last.group());
        }
        if (page.isEmpty()) {
            page = Database.query(connection, Trigger::read, sql(COLUMNS + JOINED + "AND " + ONCE + order), name,
                    queue);
        }
        if (page.isEmpty()) {
            this.positions.remove(queue);
        }
        else {
            this.positions.put(queue, page.get(page.size() - 1));
        }
        return page;
    }

    /**
     * Returns the triggers that no scheduler has acquired meanwhile; locks their rows.
     */
    private List<Trigger> claim(Connection connection, String name, List<Trigger> triggers) throws SQLException {
        if (triggers.isEmpty()) {
            return triggers;
        }
        int[] changed = Database.updateEach(connection,
                sql("UPDATE %1$sTRIGGERS SET TRIGGER_STATE = 'DELETED'" + KEY
                        + " AND TRIGGER_STATE = 'WAITING' AND NEXT_FIRE_TIME = ?"),
                triggers.stream()
                    .map((trigger) -> new Object[] { name, trigger.name(), trigger.group(), trigger.due() })
                    .toList());
        List<Trigger> claimed = new ArrayList<>();
        for (int i = 0; i < changed.length; i++) {
            if (changed[i] == 1) {
                claimed.add(triggers.get(i));
            }
        }
        return claimed;
    }

    /** Deletes jobs without triggers, as Quartz does with those that are not durable. */
    private void deleteJobs(Connection connection, String name, Set<List<String>> jobs) throws SQLException {
        if (!jobs.isEmpty()) {
            Database.updateEach(connection,
                    sql("DELETE FROM %1$sJOB_DETAILS WHERE SCHED_NAME = ? AND JOB_NAME = ? AND JOB_GROUP = ? "
                            + "AND NOT EXISTS (SELECT 1 FROM %1$sTRIGGERS t WHERE t.SCHED_NAME = ? AND t.JOB_NAME = ? "
                            + "AND t.JOB_GROUP = ?)"),
                    jobs.stream()
                        .map((job) -> new Object[] { name, job.get(0), job.get(1), name, job.get(0), job.get(1) })
                        .toList());
        }
    }

    private String sql(String statement) {
        return statement.replace("%1$s", this.prefix);
    }

    private record Trigger(String name, String group, String job, String jobGroup, long due, QuartzData data,
            boolean durable) {

        static Trigger read(ResultSet row) throws SQLException {
            byte[] job = row.getBytes(6);
            byte[] trigger = row.getBytes(7);
            return new Trigger(row.getString(1), row.getString(2), row.getString(3), row.getString(4), row.getLong(5),
                    new QuartzData((job != null) ? job : new byte[0], (trigger != null) ? trigger : new byte[0]),
                    row.getBoolean(8));
        }

        SourceEntry entry(String id) {
            return SourceEntry.of(id, Instant.ofEpochMilli(this.due), this.data.payload())
                .with(businessId(), Map.of("quartz-trigger", this.group + "." + this.name, "quartz-job",
                        this.jobGroup + "." + this.job));
        }

        private String businessId() {
            return this.group.equals("DEFAULT") ? this.name : this.group + "." + this.name;
        }

    }

}
