package io.delayqueue.journal;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Supplier;

import io.delayqueue.journal.JournalDatabase.StatementSettings;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the time from which the journal counts delays. */
@Tag("server")
class DatabaseTimeTests {

    /**
     * P2: a delay that counts from the start of a long transaction would end early.
     */
    @EachDatabase
    void theTimeOfAStatementIsNotThatOfItsTransaction(ShopDatabase database) {
        JournalDatabase journal = new JournalDatabase(new DriverManagerDataSource(database.serverUrl()), "dq");

        journal.inNewTransaction(() -> {
            Supplier<Long> inStatement = () -> journal.statement("SELECT $now").query(Long.class).single();
            long first = inStatement.get();
            await().untilAsserted(() -> assertThat(inStatement.get()).isGreaterThan(first));
            return first;
        });
    }

    /** P2: the clocks of the nodes that share a server of H2 may differ. */
    @Test
    void onAServerOfH2TheTimeIsThatOfTheServer() {
        assertThat(dialect(ShopDatabase.H2.serverUrl())).isEqualTo(JournalDialect.H2_SERVER);
        assertThat(dialect(ShopDatabase.H2.url())).isEqualTo(JournalDialect.H2);
        theTimeOfAStatementIsNotThatOfItsTransaction(ShopDatabase.H2);
    }

    /**
     * H2 would apply it to all that follows on the connection, which belongs to a pool.
     */
    @Test
    void aTimeLimitOfAStatementDoesNotStayOnTheConnection() throws SQLException {
        try (Connection connection = DriverManager.getConnection(ShopDatabase.H2.url())) {
            JournalDatabase journal = new JournalDatabase(new SingleConnectionDataSource(connection, true), "dq");
            journal.replanned("SELECT $now", new StatementSettings(-1, 1)).query(Long.class).single();

            try (Statement next = connection.createStatement()) {
                assertThat(next.getQueryTimeout()).isZero();
            }
        }
    }

    private static JournalDialect dialect(String url) {
        return new JournalDatabase(new DriverManagerDataSource(url), "dq").dialect();
    }

}
