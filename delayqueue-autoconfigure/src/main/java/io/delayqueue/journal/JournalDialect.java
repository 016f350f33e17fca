package io.delayqueue.journal;

import java.util.Arrays;
import java.util.Locale;

/**
 * Provides the SQL expressions that differ between databases.
 * <p>
 * The time of a statement is read at its execution, not at the start of its transaction:
 * a delay that counts from the start of a long transaction would end early.
 */
enum JournalDialect {

    /** H2 has only the time of the transaction, and so takes that of this process. */
    H2("CAST(:now AS BIGINT)"),

    POSTGRESQL("CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)"),

    MYSQL("(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)"), MARIADB(MYSQL.now);

    private final String now;

    JournalDialect(String now) {
        this.now = now;
    }

    /**
     * Returns the expression of the current time, in milliseconds since the epoch. It has
     * the parameter {@code :now} where the database has none. PostgreSQL uses an index
     * for a comparison only with the result of a subquery, as the time is not constant.
     */
    String now() {
        return this.now;
    }

    /** Returns the value of {@code :now}. */
    static long time() {
        return System.currentTimeMillis();
    }

    /** Returns the dialect of a database by the product name of its JDBC metadata. */
    static JournalDialect of(String product) {
        return Arrays.stream(values())
            .filter((dialect) -> product.toUpperCase(Locale.ROOT).startsWith(dialect.name()))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(
                    "The journal supports H2, PostgreSQL, MySQL and MariaDB, but the database is " + product));
    }

}
