package io.delayqueue.journal;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that transactions of the journal's own leave that of a caller alone. */
class JournalDatabaseTests {

    /** A transaction manager binds connections by the data source behind the proxy. */
    @Test
    void aTransactionBehindAProxyIsNotCommittedByTheJournal() throws SQLException {
        DriverManagerDataSource dataSource = new DriverManagerDataSource(ShopDatabase.H2.url());
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-h2.sql")).execute(dataSource);
        JdbcClient jdbc = JdbcClient.create(dataSource);
        jdbc.sql("CREATE TABLE purchase (id INT NOT NULL)").update();
        JournalTable table = new JournalTable(
                new JournalDatabase(new TransactionAwareDataSourceProxy(dataSource), "dq"), Duration.ofSeconds(10));

        try (Connection caller = dataSource.getConnection(); Statement statement = caller.createStatement()) {
            caller.setAutoCommit(false);
            // JPA binds its connection without synchronization.
            TransactionSynchronizationManager.bindResource(dataSource, new ConnectionHolder(caller));
            try {
                statement.execute("INSERT INTO purchase VALUES (1)");
                table.insertAlone(List.of(JournalRequest.cancel(new QueueName("orders"), "1")));
            }
            finally {
                TransactionSynchronizationManager.unbindResource(dataSource);
            }
            caller.rollback();
        }

        assertThat(rows(jdbc, "purchase")).isZero();
        assertThat(rows(jdbc, "delayqueue_journal")).isOne();
    }

    private static long rows(JdbcClient jdbc, String table) {
        return jdbc.sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

}
