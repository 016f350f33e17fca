package io.delayqueue.shop.history;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.admin.MessageHistory.Erasure;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.delayqueue.shop.history.AuditedShop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests the journal mode {@code audit}: it records the transitions of each message, and
 * leaves sends and handlers as they are.
 */
@Tag("server")
class HistoryTests {

    private static final Duration LATER = Duration.ofHours(1);

    /** A queue without a listener. */
    private static final String RETURNS = "returns";

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private AuditedShop shop;

    private DelayQueueTemplate queue;

    private MessageHistory history;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void stop() {
        if (this.context != null) {
            this.context.close();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database, String... settings) {
        List<String> arguments = new ArrayList<>(
                List.of("--spring.data.redis.port=" + redis.port(), "--spring.datasource.url=" + database.url(),
                        "--spring.application.name=shop", "--delayqueue.journal.mode=audit",
                        "--delayqueue.journal.jdbc.initialize-schema=always", "--delayqueue.command-timeout=10s",
                        "--delayqueue.listener.max-attempts=2", "--delayqueue.listener.backoff.initial=1ms",
                        "--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
        for (String setting : settings) {
            String name = setting.substring(0, setting.indexOf('=') + 1);
            arguments.removeIf((argument) -> argument.startsWith(name));
            arguments.add(setting);
        }
        this.context = SpringApplication.run(AuditedShop.class, arguments.toArray(String[]::new));
        this.shop = this.context.getBean(AuditedShop.class);
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.history = this.context.getBeanProvider(MessageHistory.class).getIfAvailable();
    }

    private List<String> transitions(String queue, String id) {
        return this.history.of(queue, id)
            .stream()
            .map((entry) -> entry.event() + ((entry.attempt() != null) ? " " + entry.attempt() : ""))
            .toList();
    }

    private void awaitTransitions(String queue, String id, String... transitions) {
        await().untilAsserted(() -> assertThat(transitions(queue, id)).containsExactly(transitions));
    }

    private long rows() {
        return this.context.getBean(JdbcClient.class)
            .sql("SELECT COUNT(*) FROM delayqueue_history")
            .query(Long.class)
            .single();
    }

    @EachDatabase
    void aHandledMessageHasAHistory(ShopDatabase database) {
        Instant before = Instant.now();
        start(database);

        assertThat(this.queue.send(ORDERS, "42", "order", Duration.ZERO).outcome()).isEqualTo(SendOutcome.SCHEDULED);

        awaitTransitions(ORDERS, "42", "SENT", "CLAIMED 1", "HANDLED 1");
        assertThat(this.history.of(ORDERS, "42")).isSortedAccordingTo((a, b) -> a.at().compareTo(b.at()))
            .allSatisfy((entry) -> {
                assertThat(entry.at()).isBetween(before.minusSeconds(1), Instant.now().plusSeconds(1));
                assertThat(entry.node()).matches("shop@.+:" + ProcessHandle.current().pid());
            });
        assertThat(transitions(ORDERS, "43")).isEmpty();
        assertThat(transitions(RETURNS, "42")).isEmpty();
        assertThat(this.queue.find(ORDERS, "42")).isEmpty();
        assertThat(this.history.queuesOf("42", List.of(RETURNS, ORDERS, "never-used"))).containsExactly(ORDERS);
        assertThat(this.history.queuesOf("43", List.of(RETURNS, ORDERS))).isEmpty();
        assertThat(this.history.queuesOf("42", List.of())).isEmpty();
    }

    @EachDatabase
    void aMessageThatFailsForGoodHasTheCauseOfEachFailure(ShopDatabase database) {
        start(database);

        this.queue.send(ORDERS, "42", "broken", Duration.ZERO);

        awaitTransitions(ORDERS, "42", "SENT", "CLAIMED 1", "FAILED 1", "RETRIED 1", "CLAIMED 2", "FAILED 2",
                "DEAD_LETTERED 2");
        assertThat(this.history.of(ORDERS, "42")).filteredOn((entry) -> entry.event() == Event.FAILED)
            .extracting(HistoryEntry::detail)
            .containsOnly("java.lang.IllegalStateException: card 4711 is blocked");
    }

    @Test
    void noRowHoldsAPayloadAndCausesCanBeLeftOut() {
        start(ShopDatabase.H2, "--delayqueue.journal.history.causes=false");

        this.queue.send(ORDERS, "42", "broken secret", Duration.ZERO);

        await().untilAsserted(() -> assertThat(transitions(ORDERS, "42")).contains("DEAD_LETTERED 2"));
        assertThat(this.history.of(ORDERS, "42")).extracting(HistoryEntry::detail)
            .contains("java.lang.IllegalStateException")
            .noneMatch((detail) -> detail != null && (detail.contains("secret") || detail.contains("4711")));
    }

    /**
     * Sends in a transaction are not rows of requests: they do not wait for its commit.
     */
    @Test
    void requestsAreNotRecordedInTheTransaction() {
        start(ShopDatabase.H2);
        TransactionTemplate transaction = new TransactionTemplate(
                this.context.getBean(PlatformTransactionManager.class));

        transaction.executeWithoutResult((status) -> {
            assertThat(this.queue.send(ORDERS, "42", "order", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(this.queue.cancel(ORDERS, "42")).isEqualTo(CancelResult.CANCELLED);
            status.setRollbackOnly();
        });

        awaitTransitions(ORDERS, "42", "SENT", "CANCELLED");
    }

    @Test
    void messagesThatAreReceivedWithoutAListenerAreRecorded() {
        start(ShopDatabase.H2);
        this.queue.send(RETURNS, "42", "order", LATER);
        this.queue.reschedule(RETURNS, "42", Duration.ZERO);

        this.queue.receive(RETURNS, Duration.ofSeconds(30)).ifPresent(ReceivedMessage::acknowledge);

        awaitTransitions(RETURNS, "42", "SENT", "RESCHEDULED", "CLAIMED 1", "HANDLED 1");
    }

    /** A redrive in a queue of several partitions is a send and a removal. */
    @ParameterizedTest
    @EnumSource(names = "H2")
    void aRedriveIsRecordedInAPartitionedQueue(ShopDatabase database) {
        start(database, "--delayqueue.queues.orders.partitions=4", "--delayqueue.listener.max-attempts=1");
        this.queue.send(ORDERS, "42", "broken", Duration.ZERO);
        awaitTransitions(ORDERS, "42", "SENT", "CLAIMED 1", "FAILED 1", "DEAD_LETTERED 1");
        await().until(() -> this.queue.statistics(ORDERS).dead() == 1);

        this.queue.deadLetters(ORDERS).redriveAll();

        await()
            .untilAsserted(() -> assertThat(transitions(ORDERS, "42")).contains("REDRIVEN").doesNotContain("PURGED"));
    }

    @EachDatabase
    void rowsAreDeletedAfterTheRetentionTime(ShopDatabase database) {
        start(database, "--delayqueue.journal.history.retention=1s");

        this.queue.send(ORDERS, "42", "order", Duration.ZERO);

        await().until(() -> !this.history.of(ORDERS, "42").isEmpty());
        await().atMost(Duration.ofMinutes(1)).until(() -> rows() == 0);
    }

    @EachDatabase
    void anErasedIdIsGoneEverywhere(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "42", "broken", Duration.ZERO);
        this.queue.send(ORDERS, "421", "order", LATER);
        await().until(() -> this.queue.statistics(ORDERS).dead() == 1);
        this.queue.send(ORDERS, "42", "order", LATER);

        Erasure erasure = this.history.erase(ORDERS, "42");

        assertThat(erasure.message()).isEqualTo(CancelResult.CANCELLED);
        assertThat(erasure.deadLetters()).isEqualTo(1);
        awaitTransitions(ORDERS, "421", "SENT");
        assertThat(rows()).isEqualTo(1);
        assertThat(this.queue.find(ORDERS, "42")).isEmpty();
        assertThat(this.queue.statistics(ORDERS).dead()).isZero();
        assertThat(redis.commands().keys("*")).noneMatch((key) -> redis.commands().type(key).equals("hash")
                && redis.commands().hkeys(key).stream().anyMatch((field) -> field.matches("42(~.*)?")));
    }

    /** The request of the cancel stays for a while, and no content or transition. */
    @Test
    void anIdOfALedgerIsErasedWithItsContent() {
        start(ShopDatabase.H2, "--delayqueue.journal.mode=ledger");
        this.queue.send(ORDERS, "42", "order", LATER);
        awaitTransitions(ORDERS, "42", "SENT");

        assertThat(this.history.erase(ORDERS, "42").message()).isEqualTo(CancelResult.CANCELLED);

        await().untilAsserted(() -> assertThat(this.context.getBean(JdbcClient.class)
            .sql("SELECT COUNT(*) FROM delayqueue_journal WHERE message_id = '42' AND operation <> 'C'")
            .query(Long.class)
            .single()).isZero());
        assertThat(transitions(ORDERS, "42")).isEmpty();
    }

    /** A ledger works without a history, and writes none. */
    @Test
    void aLedgerMayHaveNoHistory() {
        start(ShopDatabase.H2, "--delayqueue.journal.mode=ledger", "--delayqueue.journal.history.enabled=false");
        this.queue.send(ORDERS, "42", "order", Duration.ZERO);
        JdbcClient jdbc = this.context.getBean(JdbcClient.class);
        await().untilAsserted(() -> assertThat(this.shop.handled).hasSize(1));
        await().untilAsserted(
                () -> assertThat(jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal").query(Long.class).single())
                    .isZero());

        assertThat(this.history).isNull();
        assertThat(jdbc.sql("SELECT COUNT(*) FROM delayqueue_history").query(Long.class).single()).isZero();
    }

    /** The rest of the buffer is written when the application ends. */
    @Test
    void whatHappensJustBeforeTheEndIsRecorded() throws SQLException {
        String url = ShopDatabase.H2.url();
        start(ShopDatabase.H2, "--spring.datasource.url=" + url);
        this.queue.sendAll(IntStream.range(0, 300)
            .mapToObj((i) -> DelayedMessage.builder(ORDERS, "order").id("order-" + i).delay(LATER).build())
            .toList());

        this.context.close();

        try (Connection connection = DriverManager.getConnection(url, "sa", "");
                Statement statement = connection.createStatement();
                var count = statement.executeQuery("SELECT COUNT(*) FROM delayqueue_history")) {
            count.next();
            assertThat(count.getLong(1)).isEqualTo(300);
        }
    }

    /** A row that the database refuses is dropped, and no other of its batch. */
    @ParameterizedTest
    @EnumSource(names = { "POSTGRESQL", "MARIADB" })
    void aRowThatIsRefusedIsDroppedAlone(ShopDatabase database) throws SQLException {
        start(database);
        try (Connection connection = this.context.getBean(DataSource.class).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute((database == ShopDatabase.POSTGRESQL)
                    ? "ALTER TABLE delayqueue_history ALTER COLUMN detail TYPE VARCHAR(50)"
                    : "ALTER TABLE delayqueue_history MODIFY detail VARCHAR(50)");
        }

        this.queue.send(ORDERS, "42", "broken", Duration.ZERO);

        awaitTransitions(ORDERS, "42", "SENT", "CLAIMED 1", "RETRIED 1", "CLAIMED 2");
        HistoryFactory factory = this.context.getBean(HistoryFactory.class);
        await().untilAsserted(() -> assertThat(factory.dropped()).isEqualTo(3));
    }

    @Test
    void aMissingTableStopsTheStart() {
        assertThatThrownBy(() -> start(ShopDatabase.H2, "--delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("The table delayqueue_history cannot be used");
    }

    @Test
    void anOutboxHasNoHistoryAndAnAuditNoOutbox() {
        start(ShopDatabase.H2, "--delayqueue.queues.orders.journal-mode=outbox");
        this.queue.send(ORDERS, "42", "order", LATER);
        this.queue.send(RETURNS, "42", "order", LATER);

        awaitTransitions(RETURNS, "42", "SENT");
        assertThat(transitions(ORDERS, "42")).isEmpty();
        try (LogCapture log = new LogCapture()) {
            this.context.close();
            assertThat(log.lines(Level.WARN)).isEmpty();
        }
    }

}
