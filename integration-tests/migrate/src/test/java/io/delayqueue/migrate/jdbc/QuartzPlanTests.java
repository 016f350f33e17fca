package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that no statement of a batch reads all triggers. */
class QuartzPlanTests {

    private static final String KEY = "SCHED_NAME VARCHAR(120), TRIGGER_NAME VARCHAR(200), TRIGGER_GROUP VARCHAR(200), "
            + "PRIMARY KEY (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP)";

    @Test
    void aSearchReadsCronTriggersFirst() throws SQLException {
        String query = QuartzCronTriggers.JOINED + QuartzCronTriggers.ORDER;

        assertThat(plan(query, "shop", "Job")).contains("FROM \"PUBLIC\".\"QRTZ_CRON_TRIGGERS\"");
    }

    @Test
    void aPageOfTriggersIsReadInTheOrderOfTheirKey() throws SQLException {
        String query = QuartzSource.WAITING + QuartzSource.AFTER + QuartzSource.ORDER;

        assertThat(plan(query + " LIMIT 500", "shop", "Job", "1", "1", "g")).contains("/* index sorted */");
    }

    private static String plan(String query, String... arguments) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE QRTZ_JOB_DETAILS (SCHED_NAME VARCHAR(120), JOB_NAME VARCHAR(200), "
                    + "JOB_GROUP VARCHAR(200), JOB_CLASS_NAME VARCHAR(250), PRIMARY KEY (SCHED_NAME, JOB_NAME, JOB_GROUP))");
            statement.execute("CREATE TABLE QRTZ_TRIGGERS (JOB_NAME VARCHAR(200), JOB_GROUP VARCHAR(200), "
                    + "TRIGGER_STATE VARCHAR(16), TRIGGER_TYPE VARCHAR(8), CALENDAR_NAME VARCHAR(200), "
                    + "NEXT_FIRE_TIME NUMERIC(13), " + KEY + ")");
            statement.execute("CREATE INDEX NEXT ON QRTZ_TRIGGERS (SCHED_NAME, TRIGGER_STATE, NEXT_FIRE_TIME)");
            statement.execute("CREATE TABLE QRTZ_CRON_TRIGGERS (" + KEY + ")");
            statement.execute("CREATE TABLE QRTZ_SIMPLE_TRIGGERS (REPEAT_COUNT NUMERIC(7), " + KEY + ")");
            statement.execute("INSERT INTO QRTZ_JOB_DETAILS VALUES ('shop', 'job', 'g', 'Job')");
            statement
                .execute("INSERT INTO QRTZ_TRIGGERS SELECT 'job', 'g', 'WAITING', 'SIMPLE', NULL, 1, 'shop', X, 'g' "
                        + "FROM SYSTEM_RANGE(1, 10000)");
            try (PreparedStatement plan = connection
                .prepareStatement("EXPLAIN SELECT t.TRIGGER_NAME " + query.formatted("QRTZ_"))) {
                for (int i = 0; i < arguments.length; i++) {
                    plan.setString(i + 1, arguments[i]);
                }
                try (ResultSet rows = plan.executeQuery()) {
                    assertThat(rows.next()).isTrue();
                    return rows.getString(1);
                }
            }
        }
    }

}
