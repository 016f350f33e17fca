package io.delayqueue.migrate.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.migrate.SourceEntry;

/**
 * Holds what each trigger of Quartz has.
 *
 * @param name the name of the trigger
 * @param group the group of the trigger
 * @param job the name of its job
 * @param jobGroup the group of its job
 * @param due when Quartz fires it next, in ms
 * @param data the data maps
 * @param durable whether the job stays when it has no trigger
 */
record QuartzTrigger(String name, String group, String job, String jobGroup, long due, QuartzData data,
        boolean durable) {

    /** Begins a query whose rows {@link #read} reads. */
    static final String COLUMNS = "SELECT t.TRIGGER_NAME, t.TRIGGER_GROUP, t.JOB_NAME, t.JOB_GROUP, "
            + "t.NEXT_FIRE_TIME, j.JOB_DATA, t.JOB_DATA, j.IS_DURABLE ";

    static QuartzTrigger read(ResultSet row) throws SQLException {
        byte[] job = row.getBytes(6);
        byte[] trigger = row.getBytes(7);
        return new QuartzTrigger(row.getString(1), row.getString(2), row.getString(3), row.getString(4), row.getLong(5),
                new QuartzData((job != null) ? job : new byte[0], (trigger != null) ? trigger : new byte[0]),
                row.getBoolean(8));
    }

    SourceEntry entry(String id) {
        return SourceEntry.of(id, Instant.ofEpochMilli(this.due), this.data.payload())
            .with(businessId(), Map.of("quartz-trigger", this.group + "." + this.name, "quartz-job",
                    this.jobGroup + "." + this.job));
    }

    /** Returns the name, with the group before it unless that is the default. */
    String businessId() {
        return this.group.equals("DEFAULT") ? this.name : this.group + "." + this.name;
    }

}
