package io.delayqueue.shop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.journal.RestoreStep;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests a queue whose journal is a ledger: messages are restored when Redis has lost
 * them, but not those that have ended or were cancelled.
 */
@Tag("server")
class LedgerRestoreTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final String STEM = "dq:{" + ORDERS + "}:";

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private Shop shop;

    private DelayQueueTemplate queue;

    private JournalOperations journal;

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
            jdbc().sql("DELETE FROM delayqueue_journal").update();
            this.context.close();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database, String... settings) {
        start(database.url(), settings);
    }

    private void start(String url, String... settings) {
        List<String> arguments = new ArrayList<>(List.of("--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + url, "--delayqueue.journal.mode=ledger",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--delayqueue.command-timeout=10s",
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
        arguments.addAll(List.of(settings));
        this.context = SpringApplication.run(Shop.class, arguments.toArray(String[]::new));
        this.shop = this.context.getBean(Shop.class);
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.journal = this.context.getBean(JournalOperations.class);
        this.transaction = new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
    }

    /** P1: the row of a message is kept until the message was handled, and no longer. */
    @EachDatabase
    void theRowOfAMessageIsDeletedWhenItWasHandled(ShopDatabase database) {
        start(database);

        this.transaction.executeWithoutResult((status) -> this.queue.send(ORDERS, "in transaction"));
        assertThat(this.queue.send(ORDERS, "alone").outcome()).isEqualTo(SendOutcome.SCHEDULED);
        this.queue.send(ORDERS, "1", "waits", LATER);

        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactlyInAnyOrder("in transaction", "alone"));
        await().untilAsserted(() -> assertThat(rows()).isOne());
    }

    /** P1: no send is lost when Redis loses everything, and no operator intervenes. */
    @EachDatabase
    void allMessagesAreRestoredAfterRedisHasLostThem(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "1", "later", LATER);
        this.queue.send(DelayedMessage.builder(ORDERS, "in a group")
            .id("2")
            .group("g")
            .priority(9)
            .timeToLive(LATER)
            .delay(LATER)
            .build());
        StoredMessage first = found("1");
        StoredMessage second = found("2");

        awaitCalls();
        redis.commands().flushall();

        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "1")).contains(first));
        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "2")).contains(second));
        assertThat(rows()).isEqualTo(2);
    }

    /**
     * Each partition notices the loss of its queue, which is prepared for all of them.
     */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aQueueOfSeveralPartitionsIsPreparedOnce(CapturedOutput output) {
        start(ShopDatabase.H2, "--delayqueue.queues.orders.partitions=2");
        awaitPartitions();
        this.queue.send(ORDERS, "1", "later", LATER);
        await().until(() -> jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE")
            .query(Long.class)
            .single() == 1);

        redis.commands().flushall();

        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "1")).isPresent());
        awaitPartitions();
        assertThat(output.getAll().lines()).filteredOn((line) -> line.contains("Redis may have lost data of queue"))
            .hasSize(1);
    }

    /** Waits until two partitions are restored and were called since. */
    private static void awaitPartitions() {
        for (String partition : List.of(ORDERS, ORDERS + ":1")) {
            await().until(() -> ShopApplication.calls(redis, partition) > 1);
            await().until(
                    () -> redis.commands().zcount("dq:{" + partition + "}:changes", LedgerFaultTests.UNRECORDED) == 0);
        }
    }

    /** P1: no send is lost when Redis loses everything while no node runs. */
    @EachDatabase
    void allMessagesAreRestoredByANodeThatStartsAfterTheLoss(ShopDatabase database) {
        String url = database.url();
        start(url);
        this.queue.send(ORDERS, "1", "later", LATER);
        StoredMessage before = found("1");
        this.context.close();

        redis.commands().flushall();
        start(url);

        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "1")).contains(before));
        assertThat(rows()).isOne();
    }

    /** P1: no send is lost when the node that restores a queue does not finish. */
    @EachDatabase
    void aRestoreIsRepeatedByAnotherNode(ShopDatabase database) {
        String url = database.url();
        start(url);
        this.queue.send(ORDERS, "1", "later", LATER);
        StoredMessage before = found("1");
        awaitCalls();
        this.context.close();
        String[] calls = redis.commands().get(STEM + "journal").split(" ");
        redis.commands().flushall();
        // as after the first call of a node that died before it had restored the queue
        redis.commands().set(STEM + "journal", calls[0] + " 1 " + calls[2]);
        String entry = "L1 ";
        redis.commands().zadd(STEM + "changes", 1, entry);

        start(url);

        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "1")).contains(before));
        await().untilAsserted(() -> assertThat(redis.commands().zscore(STEM + "changes", entry)).isNull());
    }

    /** P6: a restore brings nothing back that was cancelled, moved or replaced. */
    @EachDatabase
    void aRestoreHasTheLastStateOfEachMessage(ShopDatabase database) {
        start(database);
        for (String id : List.of("cancelled", "moved", "replaced", "followed")) {
            this.queue.send(ORDERS, id, "first", LATER);
        }
        assertThat(this.queue.cancel(ORDERS, "cancelled")).isEqualTo(CancelResult.CANCELLED);
        assertThat(this.queue.reschedule(ORDERS, "moved", LATER.multipliedBy(2)))
            .isEqualTo(RescheduleResult.RESCHEDULED);
        this.queue.send(DelayedMessage.builder(ORDERS, "second")
            .id("replaced")
            .onDuplicate(OnDuplicate.REPLACE)
            .delay(LATER)
            .build());
        assertThat(this.queue.send(ORDERS, "followed", "second", LATER).outcome()).isEqualTo(SendOutcome.KEPT);
        List<StoredMessage> before = List.of(found("moved"), found("replaced"), found("followed"));

        awaitCalls();
        redis.commands().flushall();

        await().untilAsserted(
                () -> assertThat(List.of(found("moved"), found("replaced"), found("followed"))).isEqualTo(before));
        assertThat(this.queue.find(ORDERS, "cancelled")).isEmpty();
    }

    /**
     * P2, P6: an older copy of Redis, such as a replica that lagged, brings back neither
     * what was cancelled nor an earlier or later due time.
     */
    @EachDatabase
    void anOlderCopyOfRedisIsCorrected(ShopDatabase database) {
        start(database);
        for (String id : List.of("cancelled", "moved", "advanced", "unchanged")) {
            this.queue.send(ORDERS, id, "first", LATER);
        }
        await().untilAsserted(() -> assertThat(redis.commands().exists("dq:{" + ORDERS + "}:journal")).isOne());
        Map<String, byte[]> older = new HashMap<>();
        redis.commands().keys("dq:*").forEach((key) -> older.put(key, redis.commands().dump(key)));
        String calls = redis.commands().get(STEM + "journal");
        assertThat(this.queue.cancel(ORDERS, "cancelled")).isEqualTo(CancelResult.CANCELLED);
        assertThat(this.queue.reschedule(ORDERS, "moved", LATER.multipliedBy(2)))
            .isEqualTo(RescheduleResult.RESCHEDULED);
        assertThat(this.queue.reschedule(ORDERS, "advanced", LATER.dividedBy(2)))
            .isEqualTo(RescheduleResult.RESCHEDULED);
        StoredMessage moved = found("moved");
        StoredMessage advanced = found("advanced");
        await()
            .untilAsserted(() -> assertThat(redis.commands().get("dq:{" + ORDERS + "}:journal")).isNotEqualTo(calls));

        redis.commands().flushall();
        older.forEach((key, value) -> redis.commands().restore(key, 0, value));

        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "cancelled")).isEmpty());
        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "moved")).contains(moved));
        await().untilAsserted(() -> assertThat(this.queue.find(ORDERS, "advanced")).contains(advanced));
        assertThat(this.queue.find(ORDERS, "unchanged")).isPresent();
    }

    /** P6: a cancel takes effect although Redis has lost the message before. */
    @EachDatabase
    void aCancelOfALostMessagePreventsItsRestore(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "1", "later", LATER);
        remove("1");

        assertThat(this.queue.cancel(ORDERS, "1")).isEqualTo(CancelResult.NOT_FOUND);
        RestoreReport report = this.journal.restore(RestorePlan.all());

        assertThat(report).isEqualTo(new RestoreReport(0, 0, 0, 0));
        assertThat(this.queue.find(ORDERS, "1")).isEmpty();
    }

    /** P1: a reschedule restores a message that Redis has lost. */
    @EachDatabase
    void aRescheduleOfALostMessageRestoresIt(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "1", "later", LATER);
        remove("1");

        assertThat(this.queue.reschedule(ORDERS, "1", LATER.multipliedBy(2))).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(found("1").dueAt().toEpochMilli()).isGreaterThan(redisMillis() + LATER.toMillis());
        await().untilAsserted(() -> assertThat(rows()).isOne());
    }

    /**
     * P1: a message that is missing without a trace is restored when it is overdue, by
     * the sweep.
     */
    @EachDatabase
    void anOverdueMessageThatIsMissingIsRestored(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "1", "lost", LATER);
        remove("1");

        jdbc().sql("UPDATE delayqueue_journal SET due_millis = 1, claimed_until = 1").update();

        await().untilAsserted(() -> assertThat(this.shop.handled).containsExactly("lost"));
        await().untilAsserted(() -> assertThat(rows()).isZero());
    }

    /** A sender without the journal would store messages that cannot be restored. */
    @EachDatabase
    void aSenderWithoutTheJournalIsRejected(ShopDatabase database) {
        start(database);
        this.queue.send(ORDERS, "1", "later", LATER);
        await().untilAsserted(
                () -> assertThat(redis.commands().get("dq:{" + ORDERS + "}:partitions")).matches("\\d+\\|1j"));

        try (ConfigurableApplicationContext other = SpringApplication.run(Shop.class,
                "--spring.data.redis.port=" + redis.port(), "--spring.datasource.url=" + ShopDatabase.H2.url(),
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none")) {
            DelayQueueTemplate withoutJournal = other.getBean(DelayQueueTemplate.class);

            assertThatThrownBy(() -> withoutJournal.send(ORDERS, "2", "later", LATER))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("Queue 'orders' is a ledger");
            assertThatThrownBy(() -> withoutJournal.send(ORDERS, "now")).isInstanceOf(StoreRefusedException.class);
            assertThatThrownBy(() -> withoutJournal.cancel(ORDERS, "1")).isInstanceOf(StoreRefusedException.class);
            assertThatThrownBy(() -> withoutJournal.reschedule(ORDERS, "1", LATER))
                .isInstanceOf(StoreRefusedException.class);
            assertThatThrownBy(() -> withoutJournal.deadLetters(ORDERS).redrive("1~1"))
                .isInstanceOf(StoreRefusedException.class);
            assertThat(withoutJournal.find(ORDERS, "1")).isPresent();
        }

        assertThat(rows()).isOne();
        assertThat(this.queue.send(ORDERS, "3", "later", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    /** The partition of a message of a group is that of the group. */
    @Test
    void aDryRunFindsMessagesOfGroupsInTheirPartitions() {
        start(ShopDatabase.H2, "--delayqueue.queues.orders.partitions=4");
        awaitPartitions();
        IntStream.range(0, 20)
            .forEach((i) -> this.queue
                .send(DelayedMessage.builder(ORDERS, "later").id("m" + i).group("g" + i).delay(LATER).build()));
        await().until(() -> jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE")
            .query(Long.class)
            .single() == 20);

        assertThat(this.journal.restore(RestorePlan.all().queue(ORDERS).asDryRun()))
            .isEqualTo(new RestoreReport(0, 20, 0, 0));
    }

    @EachDatabase
    void aRestoreCountsWhatItDoes(ShopDatabase database) {
        start(database);
        IntStream.range(0, 5).forEach((i) -> this.queue.send(ORDERS, "m" + i, "later", LATER));
        remove("m1");
        remove("m3");

        assertThat(this.journal.restore(RestorePlan.all().queue(ORDERS).asDryRun()))
            .isEqualTo(new RestoreReport(2, 3, 0, 0));
        assertThat(this.journal.restore(RestorePlan.all().queue("others"))).isEqualTo(new RestoreReport(0, 0, 0, 0));
        assertThat(this.journal.restore(RestorePlan.all().queue(ORDERS).id("m1")))
            .isEqualTo(new RestoreReport(1, 0, 0, 0));
        assertThat(this.journal.restore(RestorePlan.all().rate(1000))).isEqualTo(new RestoreReport(1, 4, 0, 0));
        assertThat(this.journal.restore(RestorePlan.all())).isEqualTo(new RestoreReport(0, 5, 0, 0));
    }

    /**
     * P1, P9: a message that one call cannot restore together with others is restored
     * alone.
     */
    @EachDatabase
    void eachMessageOfAPageIsRestoredWhateverTheOthersAre(ShopDatabase database) {
        start(database);
        IntStream.range(0, 120).forEach((i) -> this.queue.send(ORDERS, "m" + i, "later", LATER));
        List.of("m1", "m3", "m4", "m60", "m119").forEach(this::remove);
        jdbc().sql("UPDATE delayqueue_journal SET group_name = 'another' WHERE message_id = 'm2'").update();
        jdbc().sql("UPDATE delayqueue_journal SET failures = 2 WHERE message_id = 'm4'").update();
        assertThat(this.journal.restore(RestorePlan.all())).isEqualTo(new RestoreReport(5, 115, 0, 0));

        assertThat(this.queue.statistics(ORDERS).scheduled()).isEqualTo(120);
        assertThat(found("m4").failures()).isEqualTo(2);
        assertThat(found("m3").failures()).isZero();
    }

    /** P1: a restore that is taken in steps leaves no message out. */
    @EachDatabase
    void eachStepOfARestoreBeginsWhereTheLastOneEnded(ShopDatabase database) {
        start(database);
        IntStream.range(0, 5).forEach((i) -> this.queue.send(ORDERS, "m" + i, "later", LATER));
        await().untilAsserted(() -> assertThat(
                jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE").query(Long.class).single())
            .isEqualTo(5));
        remove("m1");
        remove("m4");

        List<RestoreReport> steps = new ArrayList<>();
        String cursor = null;
        do {
            RestoreStep step = this.journal.restore(RestorePlan.all().queue(ORDERS).rate(2), cursor);
            steps.add(step.report());
            cursor = step.nextCursor();
        }
        while (cursor != null);

        assertThat(steps).hasSize(4)
            .extracting((step) -> step.restored() + step.known())
            .containsExactly(2L, 2L, 1L, 0L);
        assertThat(steps.stream().mapToLong(RestoreReport::restored).sum()).isEqualTo(2);
        assertThat(this.queue.find(ORDERS, "m1")).isPresent();
        assertThat(this.queue.find(ORDERS, "m4")).isPresent();
        assertThat(this.journal.covers(ORDERS)).isTrue();
        assertThatIllegalArgumentException().isThrownBy(() -> this.journal.restore(RestorePlan.all(), "no cursor"));
    }

    /** A step of a restore holds 8 MiB of messages in memory, and one message more. */
    @EachDatabase
    void aStepOfLargeMessagesIsSmall(ShopDatabase database) {
        start(database);
        String large = "x".repeat(200_000);
        IntStream.range(0, 50).forEach((i) -> this.queue.send(ORDERS, "m" + i, large, LATER));

        RestoreStep step = this.journal.restore(RestorePlan.all().queue(ORDERS), null);

        assertThat(step.report().known()).isEqualTo(42);
        assertThat(step.nextCursor()).isNotNull();
        assertThat(this.journal.restore(RestorePlan.all().queue(ORDERS)).known()).isEqualTo(50);
    }

    private StoredMessage found(String id) {
        return this.queue.find(ORDERS, id).orElseThrow(() -> new AssertionError("no message " + id));
    }

    /** Removes a message from Redis, as an operator could by mistake. */
    private void remove(String id) {
        awaitCalls();
        await().untilAsserted(() -> assertThat(
                jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE message_id = ? AND accepted = TRUE")
                    .param(id)
                    .query(Long.class)
                    .single())
            .isOne());
        assertThat(redis.commands().hdel(STEM + "messages", id)).isOne();
        redis.commands().hdel(STEM + "revisions", id);
        assertThat(redis.commands().zrem(STEM + "scheduled", id)).isOne();
    }

    /**
     * Waits until this node has called Redis twice for messages that have ended: the
     * first call of a new queue restores it.
     */
    private void awaitCalls() {
        await().untilAsserted(() -> assertThat(redis.commands().get("dq:{" + ORDERS + "}:journal")).isNotNull()
            .satisfies((journal) -> assertThat(Long.parseLong(journal.split(" ")[1])).isGreaterThan(1)));
    }

    private long redisMillis() {
        return Long.parseLong(redis.commands().time().get(0)) * 1000;
    }

    private long rows() {
        return jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE operation <> 'C'").query(Long.class).single();
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

}
