package io.delayqueue.journal;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import ch.qos.logback.classic.Level;
import io.delayqueue.QueueName;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests a history that gets more rows than its database takes. */
@Tag("server")
class HistoryLoadTests {

    private static final Duration SLOWNESS = Duration.ofMillis(50);

    /**
     * Old rows are deleted, ids are erased, and the writer ends, although the buffer is
     * never empty.
     */
    @Test
    @Tag("matrix")
    void oldRowsAreDeletedWhileTheBufferIsFull() {
        DriverManagerDataSource source = new DriverManagerDataSource(ShopDatabase.H2.url());
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-h2.sql")).execute(source);
        JdbcClient jdbc = JdbcClient.create(source);
        HistoryTable table = new HistoryTable(new JournalDatabase(slow(source), "dq"), "node", System::nanoTime);
        QueueName queue = new QueueName("orders");
        table.insert(List.of(new HistoryRow(queue, "old", System.nanoTime() - Duration.ofHours(2).toNanos(),
                Event.HANDLED, null, null)), false);
        HistoryWriter writer = new HistoryWriter(table, new HistorySettings(Duration.ofHours(1), true, true, 2000));
        AtomicBoolean sending = new AtomicBoolean(true);
        Thread sender = new Thread(() -> {
            while (sending.get()) {
                for (int i = 0; i < 1000; i++) {
                    writer.add(new HistoryRow(queue, "1", System.nanoTime(), Event.HANDLED, null, null));
                }
                // Real time: the sender is faster than the database, and leaves it a
                // core.
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            }
        });
        writer.start();
        sender.start();
        try {
            await().atMost(Duration.ofMinutes(1)).until(() -> writer.dropped() > 10_000);
            await().atMost(Duration.ofMinutes(1))
                .until(() -> jdbc.sql("SELECT COUNT(*) FROM delayqueue_history WHERE message_id = 'old'")
                    .query(Long.class)
                    .single() == 0);
            assertThat(writer.erase(queue, "1")).isPositive();
        }
        finally {
            writer.stop();
            sending.set(false);
        }
        assertThat(writer.isRunning()).isFalse();
    }

    /** A stop ends the thread that logs. */
    @Test
    void dropsAreLoggedAfterARestart() {
        DriverManagerDataSource source = new DriverManagerDataSource(ShopDatabase.H2.url());
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-h2.sql")).execute(source);
        HistoryTable table = new HistoryTable(new JournalDatabase(source, "dq"), "node", System::nanoTime);
        HistoryWriter writer = new HistoryWriter(table, new HistorySettings(Duration.ofHours(1), true, true, 1));
        writer.start();
        writer.stop();
        writer.start();
        try (LogCapture log = new LogCapture()) {
            while (writer.dropped() == 0) {
                writer.add(new HistoryRow(new QueueName("orders"), "1", System.nanoTime(), Event.HANDLED, null, null));
            }
            await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(log.lines(Level.WARN))
                    .anyMatch((line) -> line.startsWith("Rows of the history are dropped and counted")));
        }
        finally {
            writer.stop();
        }
    }

    private static DelegatingDataSource slow(DriverManagerDataSource source) {
        return new DelegatingDataSource(source) {

            @Override
            public Connection getConnection() throws SQLException {
                // Real time: stands for a slow database.
                LockSupport.parkNanos(SLOWNESS.toNanos());
                return super.getConnection();
            }

        };
    }

}
