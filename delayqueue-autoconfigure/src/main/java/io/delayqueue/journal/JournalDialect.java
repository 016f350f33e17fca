package io.delayqueue.journal;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Locale;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Provides the SQL expressions that differ between databases.
 * <p>
 * The time of a statement is read at its execution, not at the start of its transaction:
 * a delay that counts from the start of a long transaction would end early.
 */
enum JournalDialect {

    /**
     * Its functions return the time of the transaction. It runs in this process, whose
     * time is that of the database.
     */
    H2("CAST(:now AS BIGINT)", null),

    /** H2 in another process. The view of sessions has the start of the statement. */
    H2_SERVER("(SELECT CAST(FLOOR(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000) AS BIGINT) "
            + "FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())", null),

    /**
     * Its driver caches plans, also those that were made while a table was empty. They
     * would read a whole table for each row once it has grown.
     */
    POSTGRESQL("CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)", "SET LOCAL enable_seqscan = off"),

    MYSQL("(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)", null), MARIADB(MYSQL.now, null);

    private final String now;

    private final @Nullable String firstStatement;

    JournalDialect(String now, @Nullable String firstStatement) {
        this.now = now;
        this.firstStatement = firstStatement;
    }

    /**
     * Returns the expression of the current time, in milliseconds since the epoch. It has
     * the parameter {@code :now} where the database has none. PostgreSQL uses an index
     * for a comparison only with the result of a subquery, as the time is not constant.
     */
    String now() {
        return this.now;
    }

    /**
     * Returns what a transaction of the journal begins with; {@code null} for nothing.
     */
    @Nullable String firstStatement() {
        return this.firstStatement;
    }

    /** Returns a template whose statements are planned at each execution. */
    JdbcTemplate replanning(DataSource dataSource) {
        return (this == POSTGRESQL) ? new ReplanningJdbcTemplate(dataSource) : new JdbcTemplate(dataSource);
    }

    /**
     * Returns whether a time limit of a statement ends with it. H2 keeps it for all that
     * follow on the connection.
     */
    boolean limitsSingleStatements() {
        return this != H2 && this != H2_SERVER;
    }

    /** Returns the value of {@code :now}. */
    static long time() {
        return System.currentTimeMillis();
    }

    /**
     * Returns the dialect of a database by its JDBC metadata and, for H2, its session.
     */
    static JournalDialect of(DatabaseMetaData database) throws SQLException {
        String product = database.getDatabaseProductName();
        JournalDialect found = Arrays.stream(values())
            .filter((dialect) -> product.toUpperCase(Locale.ROOT).startsWith(dialect.name()))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(
                    "The journal supports H2, PostgreSQL, MySQL and MariaDB, but the database is " + product));
        return (found == H2 && runsInAnotherProcess(database.getConnection())) ? H2_SERVER : found;
    }

    private static boolean runsInAnotherProcess(Connection h2) throws SQLException {
        try (Statement statement = h2.createStatement();
                ResultSet row = statement
                    .executeQuery("SELECT SERVER FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()")) {
            return row.next() && row.getString(1) != null;
        }
    }

}
