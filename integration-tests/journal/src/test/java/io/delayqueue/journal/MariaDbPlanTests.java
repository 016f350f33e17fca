package io.delayqueue.journal;

import java.time.Duration;
import java.util.List;

import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** Counts the rows that MariaDB reads for each statement of the journal. */
@Tag("server")
@Tag("matrix")
class MariaDbPlanTests {

    private static final int ROWS = Integer.getInteger("dq.journal.rows", 200_000);

    private SingleConnectionDataSource dataSource;

    private JdbcClient jdbc;

    private JournalTable table;

    @BeforeEach
    void create() {
        // The counts are those of a session.
        this.dataSource = new SingleConnectionDataSource(ShopDatabase.MARIADB.url(), true);
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-mariadb.sql"))
            .execute(this.dataSource);
        this.jdbc = JdbcClient.create(this.dataSource);
        this.table = new JournalTable(new JournalDatabase(this.dataSource, "dq"), Duration.ofSeconds(10));
        this.table.queues();
    }

    @AfterEach
    void close() {
        if (this.dataSource != null) { // null without MariaDB
            this.dataSource.destroy();
        }
    }

    @Test
    void noStatementReadsMoreRowsThanItNeeds() {
        JournalStatements statements = fill();
        tables().forEach((name) -> this.jdbc.sql("ANALYZE TABLE " + name).query().listOfRows());

        statements.assertReads();
    }

    /** The statistics of InnoDB are collected in the background, a while later. */
    @Test
    void noStatementReadsMoreRowsThanItNeedsWithoutStatistics() {
        tables().forEach((name) -> this.jdbc.sql("ALTER TABLE %s STATS_AUTO_RECALC = 0".formatted(name)).update());

        fill().assertReads();
    }

    private List<String> tables() {
        return this.jdbc.sql("SHOW TABLES").query(String.class).list();
    }

    private JournalStatements fill() {
        JournalStatements statements = new JournalStatements(this.jdbc, this.table, this::reads);
        statements.fill("(SELECT seq AS i FROM seq_1_to_%d) numbers".formatted(ROWS), 1000);
        return statements;
    }

    private long reads(Runnable call) {
        long before = read();
        call.run();
        return read() - before;
    }

    /** Returns the number of rows and index entries that this session has read. */
    private long read() {
        return this.jdbc.sql("SHOW SESSION STATUS LIKE 'Handler_read%'")
            .query((row, number) -> row.getLong(2))
            .list()
            .stream()
            .mapToLong(Long::longValue)
            .sum();
    }

}
