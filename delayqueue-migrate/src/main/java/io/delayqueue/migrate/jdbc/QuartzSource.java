package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Moves the triggers of Quartz that fire once, and cron triggers, which become schedules.
 * The queues of this source are the classes of the jobs, as names only. All other
 * triggers stay, and are counted by the reason.
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

    static final String WAITING = JOINED + "AND " + ONCE;

    static final String AFTER = " AND t.TRIGGER_NAME >= ? AND (t.TRIGGER_NAME > ? OR t.TRIGGER_GROUP > ?)";

    /** Names all columns of the key, so that H2 does not sort what it reads by it. */
    static final String ORDER = " ORDER BY t.SCHED_NAME, t.TRIGGER_NAME, t.TRIGGER_GROUP";

    private static final String KEY = " WHERE SCHED_NAME = ? AND TRIGGER_NAME = ? AND TRIGGER_GROUP = ?";

    /** The last trigger that was taken, by queue: the triggers are read by their key. */
    private final Map<String, QuartzTrigger> positions = new HashMap<>();

    private final QuartzCronTriggers cron = new QuartzCronTriggers(this::sql, InstantSource.system());

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
        TreeSet<String> names = new TreeSet<>(rows().queues(connection));
        names.addAll(Database.query(connection, (row) -> row.getString(1), sql(
                "SELECT DISTINCT j.JOB_CLASS_NAME FROM %1$sJOB_DETAILS j JOIN %1$sTRIGGERS t ON j.SCHED_NAME = t.SCHED_NAME "
                        + "AND j.JOB_NAME = t.JOB_NAME AND j.JOB_GROUP = t.JOB_GROUP WHERE t.SCHED_NAME = ?"),
                scheduler(connection)));
        return List.copyOf(names);
    }

    /** The name of the scheduler is not known while the tables have no job. */
    @Override
    String options(Connection connection) throws SQLException {
        String name = scheduler(connection);
        return "table-prefix=%s, scheduler='%s".formatted(this.prefix, name) + (name.isEmpty() ? "" : "'");
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
        Long once = left.remove("moved");
        left.remove("cron");
        List<QuartzCronTrigger> all = this.cron.all(connection, name, queue);
        this.cron.countLeft(all, left);
        List<QuartzCronTrigger> schedules = this.cron.movable(all);
        TreeSet<Instant> due = new TreeSet<>();
        schedules.forEach((trigger) -> due.add(Instant.ofEpochMilli(trigger.trigger().due())));
        Database.query(connection, (row) -> addAll(due, instant(row, 1), instant(row, 2)),
                sql("SELECT MIN(t.NEXT_FIRE_TIME), MAX(t.NEXT_FIRE_TIME) " + WAITING), name, queue);
        return new TakenRows.Waiting(((once != null) ? once : 0) + schedules.size(), due.isEmpty() ? null : due.first(),
                due.isEmpty() ? null : due.last(), left, schedules.size());
    }

    private static boolean addAll(Set<Instant> due, @Nullable Instant first, @Nullable Instant last) {
        return first != null && last != null && due.addAll(List.of(first, last));
    }

    private static String reason() {
        return "CASE WHEN " + ONCE + " THEN 'moved' "
                + "WHEN t.TRIGGER_STATE IN ('ACQUIRED', 'EXECUTING', 'BLOCKED', 'COMPLETE') THEN 'fired by Quartz now' "
                + "WHEN t.TRIGGER_STATE <> 'WAITING' THEN 'paused, or in state ERROR' "
                + "WHEN t.CALENDAR_NAME IS NOT NULL THEN 'with a calendar' "
                + "WHEN t.TRIGGER_TYPE = 'SIMPLE' THEN 'repeating: replace them by schedules' "
                + "WHEN t.TRIGGER_TYPE = 'CRON' THEN 'cron' "
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
                .query(connection, QuartzTrigger::read,
                        sql(QuartzTrigger.COLUMNS + WAITING + " ORDER BY t.TRIGGER_NAME, t.TRIGGER_GROUP")
                                + Database.limit(connection, offset, limit),
                        scheduler(connection), queue)
                .forEach((trigger) -> entries.add(trigger.entry(Integer.toString(entries.size() + 1))));
            if (entries.size() < limit) {
                long once = Database
                    .query(connection, (row) -> row.getLong(1), sql("SELECT COUNT(*) " + WAITING),
                            scheduler(connection), queue)
                    .get(0);
                this.cron.movable(this.cron.all(connection, scheduler(connection), queue))
                    .stream()
                    .skip(Math.max(0, offset - once))
                    .limit(limit - entries.size())
                    .forEach((trigger) -> entries.add(trigger.entry(Integer.toString(entries.size() + 1))));
            }
            return entries;
        });
    }

    @Override
    List<SourceEntry> remove(Connection connection, String queue, String batch, int limit) throws SQLException {
        String name = scheduler(connection);
        QuartzCronTriggers.Search search = this.cron.search(connection, name, queue);
        Database.query(connection, (row) -> row.getString(1),
                sql("SELECT LOCK_NAME FROM %1$sLOCKS WHERE SCHED_NAME = ? AND LOCK_NAME = 'TRIGGER_ACCESS' FOR UPDATE"),
                name);
        List<QuartzTrigger> once = claim(connection, name, page(connection, name, queue, limit));
        List<SourceEntry> entries = new ArrayList<>();
        once.forEach((trigger) -> entries.add(trigger.entry(batch + "-" + (entries.size() + 1))));
        delete(connection, name, "SIMPLE_TRIGGERS", once);
        if (search.found() && once.size() < limit) {
            List<QuartzCronTrigger> cron = this.cron.claim(connection, name, queue, search, limit - once.size());
            cron.forEach((trigger) -> entries.add(trigger.entry(batch + "-" + (entries.size() + 1))));
            delete(connection, name, "CRON_TRIGGERS", cron.stream().map(QuartzCronTrigger::trigger).toList());
        }
        return entries;
    }

    private void delete(Connection connection, String name, String table, List<QuartzTrigger> triggers)
            throws SQLException {
        if (triggers.isEmpty()) {
            return;
        }
        List<Object[]> keys = new ArrayList<>(triggers.size());
        Set<List<String>> jobs = new LinkedHashSet<>();
        for (QuartzTrigger trigger : triggers) {
            keys.add(new Object[] { name, trigger.name(), trigger.group() });
            if (!trigger.durable()) {
                jobs.add(List.of(trigger.job(), trigger.jobGroup()));
            }
        }
        Database.updateEach(connection, sql("DELETE FROM %1$s" + table + KEY), keys);
        Database.updateEach(connection, sql("DELETE FROM %1$sTRIGGERS" + KEY), keys);
        deleteJobs(connection, name, jobs);
    }

    /**
     * Reads triggers behind the last ones, and from the first one after the end. So the
     * rows of those that were deleted before are not scanned again.
     */
    private List<QuartzTrigger> page(Connection connection, String name, String queue, int limit) throws SQLException {
        QuartzTrigger last = this.positions.get(queue);
        String order = ORDER + Database.limit(connection, limit);
        List<QuartzTrigger> page = List.of();
        if (last != null) {
            page = Database.query(connection, QuartzTrigger::read, sql(QuartzTrigger.COLUMNS + WAITING + AFTER + order),
                    name, queue, last.name(), last.name(), last.group());
        }
        if (page.isEmpty()) {
            page = Database.query(connection, QuartzTrigger::read, sql(QuartzTrigger.COLUMNS + WAITING + order), name,
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
    private List<QuartzTrigger> claim(Connection connection, String name, List<QuartzTrigger> triggers)
            throws SQLException {
        if (triggers.isEmpty()) {
            return triggers;
        }
        BitSet changed = Database.changedByEach(connection,
                sql("UPDATE %1$sTRIGGERS SET TRIGGER_STATE = 'DELETED'" + KEY
                        + " AND TRIGGER_STATE = 'WAITING' AND NEXT_FIRE_TIME = ?"),
                triggers.stream()
                    .map((trigger) -> new Object[] { name, trigger.name(), trigger.group(), trigger.due() })
                    .toList());
        return changed.stream().mapToObj(triggers::get).toList();
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

}
