package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Reads the cron triggers of a scheduler, and takes those that become schedules. Triggers
 * that stay are read again by each search, so a search holds no lock.
 */
final class QuartzCronTriggers {

    private static final int PAGE = 500;

    /**
     * Names the columns of the cron triggers where it can: with those of the triggers, H2
     * and others read all triggers, of which few may be cron triggers.
     */
    static final String JOINED = "FROM %1$sTRIGGERS t JOIN %1$sJOB_DETAILS j ON j.SCHED_NAME = t.SCHED_NAME "
            + "AND j.JOB_NAME = t.JOB_NAME AND j.JOB_GROUP = t.JOB_GROUP "
            + "JOIN %1$sCRON_TRIGGERS c ON c.SCHED_NAME = t.SCHED_NAME AND c.TRIGGER_NAME = t.TRIGGER_NAME "
            + "AND c.TRIGGER_GROUP = t.TRIGGER_GROUP WHERE c.SCHED_NAME = ? AND j.JOB_CLASS_NAME = ? "
            + "AND t.TRIGGER_TYPE = 'CRON' AND t.CALENDAR_NAME IS NULL AND t.NEXT_FIRE_TIME IS NOT NULL ";

    private static final String WAITING = "AND t.TRIGGER_STATE = 'WAITING' ";

    /** An acquired trigger waits again after its firing, and soon is acquired again. */
    private static final String WAITING_SOON = "AND t.TRIGGER_STATE IN ('WAITING', 'ACQUIRED') ";

    private static final String AFTER = "AND c.TRIGGER_NAME >= ? AND (c.TRIGGER_NAME > ? OR c.TRIGGER_GROUP > ?) ";

    static final String ORDER = "ORDER BY c.TRIGGER_NAME, c.TRIGGER_GROUP";

    private static final String CLAIM = "UPDATE %1$sTRIGGERS SET TRIGGER_STATE = 'DELETED' WHERE SCHED_NAME = ? "
            + "AND TRIGGER_NAME = ? AND TRIGGER_GROUP = ? AND TRIGGER_STATE = 'WAITING' AND NEXT_FIRE_TIME = ? "
            + "AND EXISTS (SELECT 1 FROM %1$sCRON_TRIGGERS c WHERE c.SCHED_NAME = ? AND c.TRIGGER_NAME = ? "
            + "AND c.TRIGGER_GROUP = ? AND c.CRON_EXPRESSION = ? AND c.TIME_ZONE_ID = ?)";

    private final UnaryOperator<String> sql;

    private final InstantSource clock;

    /** The page where the last search of a queue has ended. */
    private final Map<String, QuartzTrigger> positions = new HashMap<>();

    /**
     * Creates it.
     * @param sql writes the prefix of the tables into a statement
     * @param clock the clock of this machine, as the schedulers use theirs
     */
    QuartzCronTriggers(UnaryOperator<String> sql, InstantSource clock) {
        this.sql = sql;
        this.clock = clock;
    }

    /** Returns all cron triggers that wait, of a class of jobs. */
    List<QuartzCronTrigger> all(Connection connection, String scheduler, String jobClass) throws SQLException {
        return Database.query(connection, QuartzCronTrigger::read,
                this.sql.apply(QuartzCronTrigger.COLUMNS + JOINED + WAITING + ORDER), scheduler, jobClass);
    }

    /** Returns those that become schedules. */
    List<QuartzCronTrigger> movable(List<QuartzCronTrigger> triggers) {
        long now = this.clock.millis();
        return triggers.stream().filter((trigger) -> trigger.reasonToStay(now) == null).toList();
    }

    /** Counts those that stay, by the reason. */
    void countLeft(List<QuartzCronTrigger> triggers, Map<String, Long> left) {
        long now = this.clock.millis();
        for (QuartzCronTrigger trigger : triggers) {
            String reason = trigger.reasonToStay(now);
            if (reason != null) {
                left.merge(reason, 1L, Long::sum);
            }
        }
    }

    /**
     * Searches for a page with triggers that become schedules, from the end of the last
     * search on. Needs no lock.
     */
    Search search(Connection connection, String scheduler, String jobClass) throws SQLException {
        QuartzTrigger start = this.positions.get(jobClass);
        QuartzTrigger after = start;
        while (true) {
            List<QuartzCronTrigger> page = page(connection, List.of(scheduler, jobClass), WAITING_SOON, after);
            if (!movable(page).isEmpty()) {
                this.positions.put(jobClass, page.get(page.size() - 1).trigger());
                return new Search(true, after);
            }
            if (page.size() == PAGE) {
                after = page.get(PAGE - 1).trigger();
            }
            else if (start != null) {
                start = null;
                after = null;
            }
            else {
                this.positions.remove(jobClass);
                return new Search(false, null);
            }
        }
    }

    private List<QuartzCronTrigger> page(Connection connection, List<String> jobs, String states,
            @Nullable QuartzTrigger after) throws SQLException {
        List<Object> arguments = new ArrayList<>(jobs);
        String behind = "";
        if (after != null) {
            behind = AFTER;
            arguments.addAll(List.of(after.name(), after.name(), after.group()));
        }
        return Database.query(connection, QuartzCronTrigger::read,
                this.sql.apply(QuartzCronTrigger.COLUMNS + JOINED + states + behind + ORDER)
                        + Database.limit(connection, PAGE),
                arguments.toArray());
    }

    /**
     * Makes triggers of a page invisible for schedulers, unless one has acquired them
     * meanwhile. Call it with the lock that a scheduler of a cluster has when it acquires
     * triggers.
     */
    List<QuartzCronTrigger> claim(Connection connection, String scheduler, String jobClass, Search search, int limit)
            throws SQLException {
        List<QuartzCronTrigger> page = movable(page(connection, List.of(scheduler, jobClass), WAITING, search.after()));
        List<QuartzCronTrigger> found = page.subList(0, Math.min(limit, page.size()));
        if (found.isEmpty()) {
            return found;
        }
        if (found.size() < page.size()) {
            this.positions.put(jobClass, found.get(found.size() - 1).trigger());
        }
        BitSet changed = Database.changedByEach(connection, this.sql.apply(CLAIM), found.stream().map((each) -> {
            QuartzTrigger trigger = each.trigger();
            return new Object[] { scheduler, trigger.name(), trigger.group(), trigger.due(), scheduler, trigger.name(),
                    trigger.group(), each.expression(), each.zone() };
        }).toList());
        return changed.stream().mapToObj(found::get).toList();
    }

    /**
     * Holds the result of a search.
     *
     * @param found whether there is a page with triggers that become schedules
     * @param after the trigger before that page; {@code null} if it is the first page
     */
    record Search(boolean found, @Nullable QuartzTrigger after) {
    }

}
