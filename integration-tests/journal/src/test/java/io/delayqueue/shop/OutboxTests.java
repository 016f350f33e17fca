package io.delayqueue.shop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests sends, cancels and reschedules of a queue whose journal is an outbox: they commit
 * or roll back with the caller's transaction, and reach Redis after the commit.
 */
@Tag("server")
class OutboxTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private Shop shop;

    private DelayQueueTemplate queue;

    private TransactionTemplate transaction;

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
        if (!redis.isAlive()) {
            redis.restart();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database, String... settings) {
        startWith("always", database, settings);
    }

    private void startWith(String initializeSchema, ShopDatabase database, String... settings) {
        List<String> arguments = new ArrayList<>(List.of("--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + database.url(), "--delayqueue.journal.mode=outbox",
                "--delayqueue.journal.jdbc.initialize-schema=" + initializeSchema, "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none"));
        arguments.addAll(List.of(settings));
        SpringApplication application = new SpringApplication(Shop.class);
        application.setDefaultProperties(Map.of("delayqueue.command-timeout", "10s"));
        this.context = application.run(arguments.toArray(String[]::new));
        this.shop = this.context.getBean(Shop.class);
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.transaction = new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
    }

    /** P1: the message is sent if and only if the transaction commits. */
    @EachDatabase
    void aCommittedSendIsHandledAndARolledBackOneIsNot(ShopDatabase database) {
        start(database);

        this.transaction.executeWithoutResult((status) -> {
            assertThat(this.queue.send(ORDERS, "rolled back").outcome()).isEqualTo(SendOutcome.DEFERRED);
            status.setRollbackOnly();
        });
        SendResult sent = this.transaction.execute((status) -> this.queue.send(ORDERS, "committed"));

        assertThat(sent.outcome()).isEqualTo(SendOutcome.DEFERRED);
        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactly("committed"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    @EachDatabase
    void theAnswerOutsideOfATransactionIsThatOfRedis(ShopDatabase database) {
        start(database);

        assertThat(this.queue.send(ORDERS, "1", "first", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(this.queue.send(ORDERS, "1", "second", LATER).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.queue.reschedule(ORDERS, "1", LATER.multipliedBy(2))).isEqualTo(RescheduleResult.RESCHEDULED);
        assertThat(this.queue.cancel(ORDERS, "1")).isEqualTo(CancelResult.CANCELLED);
        assertThat(this.queue.cancel(ORDERS, "1")).isEqualTo(CancelResult.NOT_FOUND);
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    /** P1: a row that was rolled back to a savepoint is not sent, although others are. */
    @EachDatabase
    void aSendThatWasRolledBackToASavepointIsNotHandled(ShopDatabase database) {
        start(database);
        TransactionTemplate jdbc = new TransactionTemplate(
                new JdbcTransactionManager(this.context.getBean(DataSource.class)));

        jdbc.executeWithoutResult((status) -> {
            Object savepoint = status.createSavepoint();
            this.queue.send(ORDERS, "undone");
            status.rollbackToSavepoint(savepoint);
            this.queue.send(ORDERS, "kept");
        });

        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactly("kept"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    /**
     * P1: a send belongs to the inner transaction that has called it, also one of JPA.
     */
    @EachDatabase
    void aSendInANewTransactionIsIndependentOfTheOuterOne(ShopDatabase database) {
        start(database);
        assertThat(this.transaction.getTransactionManager()).isInstanceOf(JpaTransactionManager.class);
        TransactionTemplate inner = new TransactionTemplate(this.transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

        this.transaction.executeWithoutResult((outer) -> {
            this.queue.send(ORDERS, "outer, undone");
            inner.executeWithoutResult((status) -> this.queue.send(ORDERS, "inner"));
            outer.setRollbackOnly();
        });
        this.transaction.executeWithoutResult((outer) -> {
            this.queue.send(ORDERS, "outer");
            inner.executeWithoutResult((status) -> {
                this.queue.send(ORDERS, "inner, undone");
                status.setRollbackOnly();
            });
        });

        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactlyInAnyOrder("inner", "outer"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    @EachDatabase
    void requestsOfATransactionOnOneIdAreAppliedInTheirOrder(ShopDatabase database) {
        start(database);

        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "1", "never", Duration.ZERO);
            assertThat(this.queue.cancel(ORDERS, "1")).isEqualTo(CancelResult.DEFERRED);
            this.queue.send(ORDERS, "2", "moved", LATER);
            assertThat(this.queue.reschedule(ORDERS, "2", Duration.ZERO)).isEqualTo(RescheduleResult.DEFERRED);
        });

        await().untilAsserted(() -> assertThat(this.shop.handled).contains("moved"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
        assertThat(this.queue.find(ORDERS, "1")).isEmpty();
    }

    /**
     * P1: a send that was committed while Redis was away is handled once Redis is back.
     */
    @EachDatabase
    void aSendIsRecordedWhileRedisIsAway(ShopDatabase database) {
        start(database);
        redis.kill();

        SendResult alone = this.queue.send(ORDERS, "alone");
        SendResult inTransaction = this.transaction.execute((status) -> this.queue.send(ORDERS, "in transaction"));

        assertThat(alone.outcome()).isEqualTo(SendOutcome.RECORDED);
        assertThat(inTransaction.outcome()).isEqualTo(SendOutcome.DEFERRED);
        assertThat(rows()).isEqualTo(2);
        redis.restart();
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(this.shop.handled).containsExactlyInAnyOrder("alone", "in transaction"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    /** P1: a row whose node is gone is applied by another one. */
    @EachDatabase
    void aRowThatANodeLeftBehindIsApplied(ShopDatabase database) {
        start(database);
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "abandoned");
            // As if inserted by a node that ended a while ago: the fast path of this one
            // does not find it.
            jdbc().sql("UPDATE delayqueue_journal SET claimed_by = 'another', claimed_until = 0").update();
        });

        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactly("abandoned"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    /**
     * A row that another node is applying is left to it, and so are later rows of its id.
     */
    @EachDatabase
    void laterRequestsOfAnIdWaitForAnEarlierOneOfAnotherNode(ShopDatabase database) {
        // The cancel waits as long for its answer.
        start(database, "--delayqueue.command-timeout=3s");
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "1", "first", LATER);
            claimByAnotherNode();
        });

        assertThat(this.queue.cancel(ORDERS, "1")).isEqualTo(CancelResult.RECORDED);
        assertThat(this.queue.find(ORDERS, "1")).isEmpty();
        jdbc().sql("UPDATE delayqueue_journal SET claimed_until = 0 WHERE claimed_by = 'another'").update();

        await().untilAsserted(() -> assertThat(rows()).isZero());
        assertThat(this.queue.find(ORDERS, "1")).isEmpty();
    }

    /** P3: requests that wait for an earlier one of their id delay no other id. */
    @EachDatabase
    void manyRequestsThatWaitDelayNoOtherId(ShopDatabase database) {
        start(database);
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "1", "first", LATER);
            claimByAnotherNode();
        });
        this.transaction.executeWithoutResult((status) -> IntStream.rangeClosed(1, 150)
            .forEach((i) -> this.queue.reschedule(ORDERS, "1", LATER.plusMinutes(i))));

        assertThat(this.queue.send(ORDERS, "2", "other", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        long before = redisMillis();
        jdbc().sql("UPDATE delayqueue_journal SET claimed_until = 0 WHERE claimed_by = 'another'").update();

        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(rows()).isZero());
        assertThat(this.queue.find(ORDERS, "1").orElseThrow().dueAt().toEpochMilli()).as("the last reschedule")
            .isGreaterThan(before + LATER.plusMinutes(149).toMillis());
    }

    /** P3: nor do requests of one id that a node left behind wait for a search each. */
    @EachDatabase
    void manyRequestsOfAnIdThatANodeLeftBehindAreAppliedSoon(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "1", "content", LATER);
        long before = redisMillis();
        this.transaction.executeWithoutResult((status) -> {
            IntStream.rangeClosed(1, 300).forEach((i) -> this.queue.reschedule(ORDERS, "1", LATER.plusMinutes(i)));
            jdbc().sql("UPDATE delayqueue_journal SET claimed_by = 'another', claimed_until = 0").update();
        });

        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(rows()).isZero());
        assertThat(this.queue.find(ORDERS, "1").orElseThrow().dueAt().toEpochMilli()).as("the last reschedule")
            .isGreaterThan(before + LATER.plusMinutes(299).toMillis());
    }

    /** Claims all rows for less than ten minutes, as more would be a wrong clock. */
    private void claimByAnotherNode() {
        jdbc().sql("UPDATE delayqueue_journal SET claimed_by = 'another', claimed_until = :until")
            .param("until", System.currentTimeMillis() + Duration.ofMinutes(9).toMillis())
            .update();
    }

    /** Transactions that send to one id neither wait for each other nor abort. */
    @EachDatabase
    void concurrentSendsToOneIdDoNotConflict(ShopDatabase database) throws Exception {
        start(database);
        for (int isolation : List.of(TransactionDefinition.ISOLATION_READ_COMMITTED,
                TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE)) {
            TransactionTemplate isolated = new TransactionTemplate(
                    new JdbcTransactionManager(this.context.getBean(DataSource.class)));
            isolated.setIsolationLevel(isolation);
            CyclicBarrier inserted = new CyclicBarrier(2);

            List<CompletableFuture<Void>> senders = IntStream.range(0, 2)
                .mapToObj((i) -> CompletableFuture.runAsync(() -> isolated.executeWithoutResult((status) -> {
                    this.queue.send(ORDERS, "same", "by " + i, LATER);
                    pass(inserted); // neither commits before the other has inserted
                }), (task) -> new Thread(task).start()))
                .toList();

            for (CompletableFuture<Void> sender : senders) {
                sender.get();
            }
            await().untilAsserted(() -> assertThat(rows()).isZero());
            assertThat(this.queue.cancel(ORDERS, "same")).isEqualTo(CancelResult.CANCELLED);
        }
    }

    private static void pass(CyclicBarrier barrier) {
        try {
            barrier.await(1, TimeUnit.MINUTES);
        }
        catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** P2: a delay counts from the insert, not from the start of the transaction. */
    @EachDatabase
    void aDelayCountsFromTheInsert(ShopDatabase database) {
        start(database);
        Duration delay = Duration.ofMinutes(10);

        long[] inserted = new long[1];
        this.transaction.executeWithoutResult((status) -> {
            jdbc().sql("SELECT 1").query(Integer.class).single();
            long begin = System.nanoTime();
            await().until(() -> System.nanoTime() - begin > Duration.ofMillis(300).toNanos());
            inserted[0] = redisMillis();
            this.queue.send(ORDERS, "1", "later", delay);
        });

        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "1")).isPresent());
        StoredMessage stored = this.queue.find(ORDERS, "1").orElseThrow();
        assertThat(stored.dueAt().toEpochMilli()).isGreaterThanOrEqualTo(inserted[0] + delay.toMillis());
    }

    /**
     * A request that Redis rejects permanently is reported, and does not block the
     * journal.
     */
    @EachDatabase
    void aRequestThatRedisRejectsPermanentlyIsReportedAndNotRepeated(ShopDatabase database) {
        start(database);
        this.queue.send(DelayedMessage.builder(ORDERS, "a").id("1").group("a").delay(LATER).build());
        DelayedMessage other = DelayedMessage.builder(ORDERS, "b")
            .id("1")
            .group("b")
            .delay(LATER)
            .onDuplicate(OnDuplicate.REPLACE)
            .build();

        assertThatThrownBy(() -> this.queue.send(other)).isInstanceOf(StoreRefusedException.class)
            .hasMessageContaining("group 'b'");
        // One call offers all three.
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "2", "before", LATER);
            this.queue.send(other);
            this.queue.send(ORDERS, "3", "behind", LATER);
        });

        await().untilAsserted(() -> assertThat(this.shop.refused).hasSize(2)
            .allSatisfy((event) -> assertThat(event.id()).isEqualTo("1")));
        await().untilAsserted(() -> assertThat(rows()).isZero());
        assertThat(this.queue.find(ORDERS, "2")).isPresent();
        assertThat(this.queue.find(ORDERS, "3")).isPresent();
    }

    /** A row of a later version, or a damaged one, does not hold up the others. */
    @EachDatabase
    void aRowThatCannotBeReadWaitsAlone(ShopDatabase database) {
        start(database);
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "unreadable");
            jdbc().sql("UPDATE delayqueue_journal SET operation = 'X', claimed_until = 0").update();
        });
        this.transaction.executeWithoutResult((status) -> {
            this.queue.send(ORDERS, "readable");
            jdbc().sql("UPDATE delayqueue_journal SET claimed_until = 0").update();
        });

        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactly("readable"));
        await().untilAsserted(() -> assertThat(rows()).isOne());
    }

    @EachDatabase
    void aTransactionThatCannotWriteTheRowIsRejected(ShopDatabase database) {
        start(database);
        TransactionTemplate readOnly = new TransactionTemplate(this.transaction.getTransactionManager());
        readOnly.setReadOnly(true);
        TransactionTemplate foreign = new TransactionTemplate(new ForeignTransactionManager());

        assertThatThrownBy(() -> readOnly.execute((status) -> this.queue.send(ORDERS, "1")))
            .isInstanceOf(IllegalTransactionStateException.class)
            .hasMessageContaining("it is read-only")
            .hasMessageContaining("Nothing was recorded");
        assertThatThrownBy(() -> foreign.execute((status) -> this.queue.send(ORDERS, "1")))
            .isInstanceOf(IllegalTransactionStateException.class)
            .hasMessageContaining("not one of the journal's DataSource");
        assertThatThrownBy(() -> foreign.execute((status) -> {
            rows(); // binds a connection that commits by itself
            return this.queue.send(ORDERS, "1");
        })).isInstanceOf(IllegalTransactionStateException.class)
            .hasMessageContaining("not one of the journal's DataSource");
        assertThat(rows()).isZero();
    }

    @EachDatabase
    void aBatchIsRecordedInOneTransaction(ShopDatabase database) {
        start(database);
        List<DelayedMessage> batch = IntStream.range(0, 250)
            .mapToObj((i) -> DelayedMessage.builder(ORDERS, "order " + i).build())
            .toList();

        assertThat(this.queue.sendAll(batch)).hasSize(250)
            .allSatisfy((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.SCHEDULED));

        await().untilAsserted(() -> assertThat(this.shop.handled).hasSize(250).doesNotHaveDuplicates());
    }

    /**
     * A request is recorded as applied when the answer of Redis is there. The sender must
     * have that answer by then, since afterwards it gets none.
     */
    @Test
    void eachSendThatRedisHasAnsweredReturnsTheAnswer() {
        start(ShopDatabase.H2);
        for (int round = 0; round < 100; round++) {
            List<DelayedMessage> batch = IntStream.range(0, 250)
                .mapToObj((i) -> DelayedMessage.builder(ORDERS, "order " + i).delay(LATER).build())
                .toList();
            assertThat(this.queue.sendAll(batch)).as("round %d", round)
                .extracting(SendResult::outcome)
                .containsOnly(SendOutcome.SCHEDULED);
        }
    }

    @Test
    void aMissingTableStopsTheStart() {
        assertThatThrownBy(() -> startWith("never", ShopDatabase.POSTGRESQL))
            .hasStackTraceContaining("The table delayqueue_journal cannot be used")
            .hasStackTraceContaining("delayqueue.journal.jdbc.initialize-schema");
    }

    /** The mode of a queue overrides that of the application. */
    @Test
    void aQueueWithoutJournalIsSentToAtOnce() {
        start(ShopDatabase.H2, "--delayqueue.queues.plain.journal-mode=off");

        this.transaction.executeWithoutResult((status) -> {
            assertThat(this.queue.send("plain", "1", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(rows()).isZero();
        });
    }

    /**
     * P3: the requests of a burst wait for the relay, and not until their claims run out.
     */
    @Test
    void aBurstDoesNotWaitForClaims() {
        start(ShopDatabase.H2);
        int burst = 12_000;

        this.transaction.executeWithoutResult((status) -> {
            this.queue.sendAll(IntStream.range(0, burst)
                .mapToObj((i) -> DelayedMessage.builder(ORDERS, "content").delay(LATER).build())
                .toList());
            jdbc().sql("UPDATE delayqueue_journal SET claimed_until = ?")
                .param(System.currentTimeMillis() + Duration.ofMinutes(9).toMillis())
                .update();
        });

        await().atMost(Duration.ofMinutes(2))
            .until(() -> redis.commands().hlen("dq:{" + ORDERS + "}:messages") == burst);
        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(rows()).isZero());
    }

    private long rows() {
        return jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal").query(Long.class).single();
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    private static long redisMillis() {
        List<String> time = redis.commands().time();
        return Long.parseLong(time.get(0)) * 1000 + Long.parseLong(time.get(1)) / 1000;
    }

}
