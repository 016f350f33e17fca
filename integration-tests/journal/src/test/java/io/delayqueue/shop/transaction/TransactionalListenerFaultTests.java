package io.delayqueue.shop.transaction;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.RedisCopy;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests what becomes of a message with a transactional listener if the database cannot
 * show that it was handled, holds it in another transaction, or fails.
 */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class TransactionalListenerFaultTests {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private RedisServer redis;

    private ConfigurableApplicationContext context;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stop() {
        if (this.context != null) {
            this.context.close();
        }
        this.redis.close();
    }

    private void start(String url, String... settings) {
        this.context = TransactionalListenerTests.run(Till.class, this.redis, url, "ledger", settings);
        jdbc().sql("CREATE TABLE IF NOT EXISTS payment (id VARCHAR(50) NOT NULL)").update();
    }

    /**
     * P1: a process whose database is not that of the messages handles none of them, and
     * acknowledges none.
     */
    @Test
    void messagesOfAnotherJournalWait(CapturedOutput output) {
        String url = ShopDatabase.POSTGRESQL.url();
        start(url, "--delayqueue.listener.auto-startup=false");
        queue().send("till", "1", "pay", Duration.ZERO);
        await().untilAsserted(() -> assertThat(this.redis.commands().exists("dq:{till}:journal")).isOne());
        this.context.close();

        start(ShopDatabase.POSTGRESQL.url());
        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(output).contains("Payments.pay")
                .contains("Queue 'till' belongs to the journal of another database"));
        assertThat(this.context.getBean(JournalFactory.class).status().foreignQueues()).containsExactly("till");
        assertThat(queue().find("till", "1")).isPresent();
        assertThat(till().calls).isEmpty();
        this.context.close();

        start(url);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(payments()).containsExactly("1"));
    }

    /**
     * P1: a message whose row the database has lost becomes a dead letter, also if its
     * revision was assigned again and the message of that one was handled.
     */
    @EachDatabase
    void aMessageThatTheJournalDoesNotKnowBecomesADeadLetter(ShopDatabase database) {
        start(database.url(), "--delayqueue.listener.max-attempts=1");
        queue().pause("till");
        queue().send("till", "1", "pay", Duration.ZERO);
        jdbc().sql("UPDATE delayqueue_journal SET message_id = 'other'").update();
        jdbc()
            .sql("INSERT INTO delayqueue_handled (revision, namespace, queue_name, message_id, handled_at) "
                    + "SELECT revision, namespace, queue_name, 'other', 0 FROM delayqueue_journal")
            .update();
        queue().resume("till");

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(deadLetters()).hasSize(1));
        assertThat(deadLetters().get(0).cause()).contains("MissingJournalRowException")
            .contains("does not know whether message '1' of queue 'till' was handled");
        assertThat(till().calls).isEmpty();

        queue().deadLetters("till").redrive(deadLetters().get(0).id());
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(payments()).containsExactly("1"));
    }

    /**
     * P6: a message that an older copy of Redis has brought back is acknowledged without
     * a call if it was handled or cancelled.
     */
    @EachDatabase
    void whatTheJournalSaysHasEndedIsNotHandledAgain(ShopDatabase database) {
        start(database.url());
        queue().pause("till");
        queue().send("till", "handled", "pay", Duration.ZERO);
        queue().send("till", "cancelled", "pay", Duration.ZERO);
        RedisCopy copy = RedisCopy.of(this.redis);
        queue().cancel("till", "cancelled");
        queue().resume("till");
        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(rows("delayqueue_journal WHERE operation = 'S'")).isZero());
        this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class).stop();

        copy.restore(this.redis);
        queue().resume("till");

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(queue().find("till", "handled")).isEmpty());
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(queue().find("till", "cancelled")).isEmpty());
        assertThat(payments()).containsExactly("handled");
        assertThat(till().calls).containsOnlyKeys("handled");
    }

    /**
     * P3: a transaction that holds a message, such as that of a process whose network has
     * failed, delays no other message, also at the start of a listener.
     */
    @EachDatabase
    @Tag("matrix")
    void aMessageThatAnotherTransactionHoldsDelaysNoOther(ShopDatabase database) throws SQLException {
        String url = database.url();
        start(url, "--delayqueue.listener.max-attempts=1", "--delayqueue.listener.auto-startup=false");
        queue().send("till", "held", "pay", Duration.ZERO);
        IntStream.range(0, 50).forEach((i) -> queue().send("till", "p" + i, "pay", Duration.ZERO));
        this.context.close();
        try (Connection other = DriverManager.getConnection(url.contains("h2") ? url + ";USER=sa" : url);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement
                .execute("INSERT INTO delayqueue_handled (revision, namespace, queue_name, message_id, handled_at) "
                        + "SELECT revision, namespace, queue_name, message_id, 0 FROM delayqueue_journal "
                        + "WHERE message_id = 'held'");

            start(url, "--delayqueue.listener.max-attempts=1", "--delayqueue.journal.jdbc.initialize-schema=never");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(payments()).hasSize(50));
            assertThat(payments()).doesNotContain("held");
            other.rollback();
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(payments()).contains("held").hasSize(51));
        assertThat(deadLetters()).isEmpty();
    }

    /** Not one message becomes a dead letter because the database went away. */
    @Test
    void aDatabaseThatIsLostInAHandlerCostsNoAttempt() {
        whileTheDatabaseIsBehindAProxy((proxy) -> {
            till().onCall = (id) -> {
                if (till().calls.get(id).get() == 1) {
                    proxy.refuse();
                }
            };
            queue().send("till", "1", "pay", Duration.ZERO);

            await().atMost(PATIENCE).until(() -> till().calls.containsKey("1"));
            proxy.pass();
            await().atMost(PATIENCE)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(payments()).containsExactly("1"));
        });
    }

    /** A commit of which only the answer was lost is not repeated. */
    @Test
    void aCommitWhoseAnswerIsLostIsNotRepeated() {
        whileTheDatabaseIsBehindAProxy((proxy) -> {
            till().onCall = (id) -> proxy.loseReplyTo("COMMIT");
            queue().send("till", "1", "pay", Duration.ZERO);

            await().atMost(PATIENCE).until(() -> till().calls.containsKey("1"));
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(queue().find("till", "1")).isEmpty());
            await().ignoreExceptions().untilAsserted(() -> assertThat(payments()).containsExactly("1"));
            assertThat(till().calls.get("1")).hasValue(1);
        });
    }

    /**
     * A connection that is lost alone counts as a lapse, so a message that causes it
     * again and again ends as a dead letter.
     */
    @EachDatabase
    void aLostConnectionIsALapse(ShopDatabase database) {
        assumeThat(database).as("H2 is part of the process, and ignores that a connection is aborted")
            .isNotEqualTo(ShopDatabase.H2);
        start(database.url(), "--delayqueue.listener.max-attempts=1", "--delayqueue.listener.lease=1s",
                "--delayqueue.listener.max-lapses=1");
        till().onCall = (id) -> till().closeConnection();

        queue().send("till", "1", "pay", Duration.ZERO);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(deadLetters()).hasSize(1));
        assertThat(deadLetters().get(0).cause()).contains("Its lease ran out 1 time");
        assertThat(till().calls.get("1")).hasValue(2);
        assertThat(payments()).isEmpty();
    }

    /** A callback that fails after the commit has no effect on the message. */
    @EachDatabase
    void aFailureAfterTheCommitIsNoFailureOfTheMessage(ShopDatabase database, CapturedOutput output) {
        start(database.url(), "--delayqueue.listener.max-attempts=1");
        till().onCall = (id) -> TransactionSynchronizationManager
            .registerSynchronization(new TransactionSynchronization() {

                @Override
                public void afterCommit() {
                    throw new IllegalStateException("after the commit");
                }

            });

        queue().send("till", "1", "pay", Duration.ZERO);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(queue().find("till", "1")).isEmpty());
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows("delayqueue_journal")).isZero());
        assertThat(payments()).containsExactly("1");
        assertThat(deadLetters()).isEmpty();
        assertThat(output).contains("was handled, and its transaction has committed");
    }

    private interface ProxyTest {

        void run(TcpProxy proxy);

    }

    private void whileTheDatabaseIsBehindAProxy(ProxyTest test) {
        String url = ShopDatabase.POSTGRESQL.url();
        URI address = URI.create(url.substring("jdbc:".length()));
        try (TcpProxy proxy = TcpProxy.to(address.getPort())) {
            start(url.replace(":" + address.getPort(), ":" + proxy.port()),
                    "--spring.datasource.hikari.connection-timeout=500",
                    "--spring.datasource.hikari.validation-timeout=250", "--delayqueue.listener.max-attempts=1",
                    "--delayqueue.listener.lease=2s");
            test.run(proxy);
            assertThat(deadLetters()).isEmpty();
        }
    }

    private List<String> payments() {
        return jdbc().sql("SELECT id FROM payment").query(String.class).list();
    }

    private long rows(String table) {
        return jdbc().sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    private List<DeadLetter> deadLetters() {
        return queue().deadLetters("till").list(null, 10).deadLetters();
    }

    private DelayQueueTemplate queue() {
        return this.context.getBean(DelayQueueTemplate.class);
    }

    private Payments till() {
        return this.context.getBean(Payments.class);
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    @Configuration
    @EnableAutoConfiguration
    @Import(Payments.class)
    static class Till {

    }

    static class Payments {

        final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();

        private final JdbcClient jdbc;

        private final DataSource dataSource;

        volatile Consumer<String> onCall = (id) -> {
        };

        Payments(JdbcClient jdbc, DataSource dataSource) {
            this.jdbc = jdbc;
            this.dataSource = dataSource;
        }

        @DelayedListener(queues = "till", transactional = true)
        void pay(String payload, Delivery delivery) {
            this.calls.computeIfAbsent(delivery.id(), (id) -> new AtomicInteger()).incrementAndGet();
            this.jdbc.sql("INSERT INTO payment (id) VALUES (?)").param(delivery.id()).update();
            this.onCall.accept(delivery.id());
            this.jdbc.sql("SELECT COUNT(*) FROM payment").query(Long.class).single();
        }

        /** Closes the connection of the present transaction behind the pool's back. */
        void closeConnection() {
            try {
                DataSourceUtils.getConnection(this.dataSource).unwrap(Connection.class).abort(Runnable::run);
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
        }

    }

}
