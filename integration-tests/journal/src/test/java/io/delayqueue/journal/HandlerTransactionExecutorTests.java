package io.delayqueue.journal;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import io.delayqueue.QueueName;
import io.delayqueue.journal.HandlerTransactionException.Reason;
import io.delayqueue.journal.HandlerTransactionExecutor.Handler;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Tests transactions of handlers that are interrupted, by their timeout or a stop. */
class HandlerTransactionExecutorTests {

    private final DataSource dataSource = new InterruptibleDataSource(
            new DriverManagerDataSource(ShopDatabase.H2.url()));

    private final JdbcClient jdbc = JdbcClient.create(this.dataSource);

    private final JournalStatus status = new JournalStatus();

    private final HandlerTransactionExecutor executor = new HandlerTransactionExecutor(
            new JournalDatabase(this.dataSource, "dq"), this.status, new JdbcTransactionManager(this.dataSource));

    @BeforeEach
    void insertMessage() {
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-h2.sql"))
            .execute(this.dataSource);
        this.jdbc
            .sql("INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, "
                    + "recorded_at, accepted, checks, claimed_by, claimed_until) "
                    + "VALUES ('dq', 'orders', '1', 'S', FALSE, 0, TRUE, 0, '-', 0)")
            .update();
    }

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    /** P9: the message would be the probe of an outage again and again. */
    @Test
    void anInterruptThatBreaksTheConnectionOfAHandlerIsNoOutage() {
        this.status.pairs().stop();

        assertThat(reasonOf(() -> {
            Thread.currentThread().interrupt();
            return rows("delayqueue_journal") > 0;
        })).isEqualTo(Reason.LOST);
    }

    @Test
    void anInterruptThatBreaksTheConnectionOfACommitIsNoOutage() {
        this.status.pairs().stop();

        assertThat(reasonOf(() -> {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                @Override
                public void beforeCommit(boolean readOnly) {
                    Thread.currentThread().interrupt();
                }

            });
            return true;
        })).isEqualTo(Reason.LOST);
        assertThat(rows("delayqueue_handled")).isZero();
    }

    @Test
    void anInterruptThatTheHandlerIgnoresDoesNotAffectTheCommit() throws Throwable {
        this.status.pairs().stop();

        execute(() -> {
            Thread.currentThread().interrupt();
            return true;
        });

        assertThat(rows("delayqueue_handled")).isOne();
    }

    /** The handler was not called, so no attempt counts. */
    @Test
    void anInterruptDuringTheFirstComparisonIsNoFailureOfTheMessage() {
        Thread.currentThread().interrupt();

        assertThat(reasonOf(() -> true)).isEqualTo(Reason.UNAVAILABLE);
        assertThat(Thread.interrupted()).isTrue();
    }

    private Reason reasonOf(Handler handler) {
        return catchThrowableOfType(HandlerTransactionException.class, () -> execute(handler)).reason();
    }

    private void execute(Handler handler) throws Throwable {
        this.executor.execute(new QueueName("orders"), "1", 1, handler);
    }

    private long rows(String table) {
        return this.jdbc.sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    /**
     * Breaks each connection that an interrupted thread uses, as the JDK does on a
     * virtual thread.
     */
    private static final class InterruptibleDataSource extends DelegatingDataSource {

        InterruptibleDataSource(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (Thread.currentThread().isInterrupted()) {
                throw new SQLException("Closed by interrupt", "08001");
            }
            return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
                    new Class<?>[] { Connection.class }, breakable(super.getConnection()));
        }

        private static InvocationHandler breakable(Connection target) {
            AtomicBoolean broken = new AtomicBoolean();
            return (proxy, method, arguments) -> {
                if (Thread.currentThread().isInterrupted()) {
                    broken.set(true);
                }
                if (broken.get() && !method.getName().equals("close")) {
                    throw new SQLException("Closed by interrupt", "08006");
                }
                try {
                    return method.invoke(target, arguments);
                }
                catch (InvocationTargetException ex) {
                    throw ex.getTargetException();
                }
            };
        }

    }

}
