package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;

import javax.sql.DataSource;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.shop.StatementGate;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Partition;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.DelayQueueTemplate;
import io.lettuce.core.ZAddArgs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

/**
 * Tests the preparation of a restore. P1: it removes no live message. P6: it removes
 * those that were cancelled or replaced, or have ended, also while they are in flight or
 * follow another one.
 */
@Tag("server")
class LedgerPreparationTests {

    private static final QueueName QUEUE = new QueueName("prepared");

    private static final Partition PARTITION = Partition.first(QUEUE);

    private static final String ID = "1";

    private static final Duration LEASE = Duration.ofMinutes(1);

    /** How long a call may take after its row was read, where a search takes longer. */
    private static final Duration SHORT = Duration.ofSeconds(5);

    private static RedisServer redis;

    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    private ConfigurableApplicationContext context;

    private DelayQueueTemplate queue;

    private StoreComponents components;

    private JournalDatabase database;

    private EndedTable ended;

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
        this.context.close();
        this.thread.shutdownNow();
        redis.commands().flushall();
    }

    private void start(ShopDatabase database) {
        this.context = SpringApplication.run(Sender.class, "--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + database.url(), "--delayqueue.journal.mode=ledger",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--delayqueue.journal.restore-pause=0s",
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none");
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.components = this.context.getBean(StoreComponents.class);
        this.database = this.context.getBean(JournalDatabase.class);
        this.ended = new EndedTable(this.database);
        send("first", OnDuplicate.KEEP);
        await().untilAsserted(() -> assertThat(revisions()).hasSize(1));
        await().untilAsserted(() -> assertThat(redis.commands().exists("dq:{prepared}:journal")).isOne());
        JournalStatus status = this.context.getBean(JournalFactory.class).status();
        await().untilAsserted(() -> assertThat(status.restoring()).isEmpty());
        // It would record ends, and restore by itself.
        this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class).stop();
    }

    private SendOutcome send(String payload, OnDuplicate onDuplicate) {
        return this.queue.send(DelayedMessage.builder(QUEUE.value(), payload).id(ID).onDuplicate(onDuplicate).build())
            .outcome();
    }

    /** Returns the revisions of the accepted sends. */
    private List<Long> revisions() {
        return accepted('S');
    }

    private List<Long> accepted(char operation) {
        return jdbc()
            .sql("SELECT revision FROM delayqueue_journal WHERE accepted = TRUE AND operation = ? ORDER BY revision")
            .param(String.valueOf(operation))
            .query(Long.class)
            .list();
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    /** Claims what is due. */
    private ClaimResult claim() {
        return this.components.messages().claim(PARTITION, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP)).join();
    }

    /** Ends the lease of the message now, if it has one. */
    private static void endLease() {
        double micros = Long.parseLong(redis.commands().time().get(0)) * 1e6;
        redis.commands().zadd("dq:{prepared}:leased", ZAddArgs.Builder.xx(), micros, ID);
    }

    /** Records that messages have ended, which an older copy of Redis does not have. */
    private void end(List<Long> revisions) {
        this.database.inOwnTransaction(() -> {
            this.ended.add(QUEUE, revisions);
            return revisions;
        });
    }

    /** Returns the revisions of messages that have ended lately. */
    private long[] remembered() {
        return this.ended.page(QUEUE, EndedTable.Position.BEGIN)
            .stream()
            .flatMapToLong((batch) -> LongStream.of(batch.revisions()))
            .sorted()
            .toArray();
    }

    private void deleteRows() {
        jdbc().sql("DELETE FROM delayqueue_journal").update();
    }

    private void prepare() {
        prepare(this.database, Duration.ofMinutes(1), EndedRevisions.LIMIT);
    }

    private void prepare(JournalDatabase database, Duration span, int endsLimit) {
        JournalStatus status = new JournalStatus();
        status.pairs().stop();
        JournalTable table = new JournalTable(database, Duration.ofSeconds(20));
        OfferSender offers = new OfferSender(this.components, (name) -> JournalMode.LEDGER, span);
        RestorePauses pauses = new RestorePauses(this.components.partitions(), Duration.ZERO, this.thread);
        new LedgerPreparation(QUEUE, table, offers, new LedgerLookup(this.components, offers), pauses, status,
                this.thread, endsLimit)
            .run()
            .join();
    }

    @EachDatabase
    void aMessageThatHasEndedIsRemoved(ShopDatabase database) {
        start(database);
        end(revisions());
        deleteRows();

        prepare();

        assertThat(this.queue.find(QUEUE.value(), ID)).isEmpty();
    }

    /**
     * P6: the ends of an hour may be millions, of which a part is in memory at a time.
     * The end of the message is in the last part.
     */
    @EachDatabase
    void aMessageThatHasEndedBeforeManyOthersIsRemoved(ShopDatabase database) {
        start(database);
        end(revisions());
        LongStream.rangeClosed(2_000_000, 2_000_004).forEach((revision) -> end(List.of(revision)));
        deleteRows();

        prepare(this.database, Duration.ofMinutes(1), 2);

        assertThat(this.queue.find(QUEUE.value(), ID)).isEmpty();
    }

    /** Nodes that record ends at the same time may give them the same time. */
    @EachDatabase
    void noEndIsMissingBetweenTwoPartsOrPages(ShopDatabase database) {
        start(database);
        int rows = 2 * EndedTable.PAGE + 1;
        int limit = EndedTable.PAGE + 200;
        this.database.inOwnTransaction(() -> {
            LongStream.rangeClosed(1, rows).forEach((revision) -> this.ended.add(QUEUE, List.of(revision)));
            this.ended.add(new QueueName("another"), List.of(rows + 1L));
            return rows;
        });
        jdbc().sql("UPDATE delayqueue_ended SET recorded_at = ?").param(this.database.now()).update();

        EndedRevisions revisions = new EndedRevisions(this.ended, QUEUE, limit);
        List<Integer> sizes = new ArrayList<>();
        List<Long> found = new ArrayList<>();
        do {
            while (!revisions.isComplete()) {
                revisions.readPage();
            }
            sizes.add(revisions.size());
            LongStream.rangeClosed(1, rows + 1).filter(revisions::contains).forEach(found::add);
        }
        while (revisions.next());

        assertThat(sizes).containsExactly(limit, rows - limit);
        LongStream last = LongStream.rangeClosed(rows - limit + 1, rows);
        LongStream others = LongStream.rangeClosed(1, rows - limit);
        assertThat(found).as("the last ones first")
            .containsExactlyElementsOf(LongStream.concat(last, others).boxed().toList());
    }

    /** A database that has lost its last transactions may assign a revision again. */
    @EachDatabase
    void aMessageWithARowIsKeptThoughItsRevisionHasEnded(ShopDatabase database) {
        start(database);
        end(revisions());

        prepare();

        assertThat(this.queue.find(QUEUE.value(), ID)).isPresent();
    }

    /** The lease may run out while Redis is away, so no claim has ended it. */
    @EachDatabase
    void aMessageThatFollowsACancelledOneIsKept(ShopDatabase database) {
        start(database);
        List<Long> first = revisions();
        assertThat(claim().messages()).hasSize(1);
        assertThat(this.queue.cancel(QUEUE.value(), ID)).isEqualTo(CancelResult.LEASED);
        assertThat(send("second", OnDuplicate.KEEP)).isEqualTo(SendOutcome.AFTER_CURRENT);
        await().untilAsserted(() -> assertThat(accepted('C')).hasSize(1));
        await().untilAsserted(() -> assertThat(revisions()).hasSize(1).doesNotContainAnyElementsOf(first));
        endLease();

        prepare();

        assertThat(this.queue.find(QUEUE.value(), ID).orElseThrow().payload()).isEqualTo("\"second\"");
    }

    /**
     * The transaction of the send was committed after that of the cancel, which has a
     * later revision.
     */
    @EachDatabase
    void aMessageThatWasAcceptedAfterALaterCancelIsKept(ShopDatabase database) {
        start(database);
        jdbc()
            .sql("INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, "
                    + "recorded_at, accepted, checks, claimed_by, claimed_until) "
                    + "VALUES ('dq', ?, ?, 'C', FALSE, 0, TRUE, 0, '-', 4000000000000)")
            .params(QUEUE.value(), ID)
            .update();
        assertThat(accepted('C').get(0)).isGreaterThan(revisions().get(0));

        prepare();

        assertThat(this.queue.find(QUEUE.value(), ID)).isPresent();
    }

    /** P6: a copy of Redis from before a cancel has the message again. */
    @EachDatabase
    void aCancelIsRepeated(ShopDatabase database) {
        start(database);
        Map<String, byte[]> copy = new HashMap<>();
        redis.commands().keys("dq:{prepared}:*").forEach((key) -> copy.put(key, redis.commands().dump(key)));
        assertThat(this.queue.cancel(QUEUE.value(), ID)).isEqualTo(CancelResult.CANCELLED);
        await().untilAsserted(() -> assertThat(accepted('C')).hasSize(1));
        redis.commands().flushall();
        copy.forEach((key, value) -> redis.commands().restore(key, 0, value));
        assertThat(this.queue.find(QUEUE.value(), ID)).isPresent();

        prepare();

        assertThat(this.queue.find(QUEUE.value(), ID)).isEmpty();
    }

    /** P6: the search for cancels takes as long as the ledger is large. */
    @EachDatabase
    @Tag("matrix")
    void aCancelIsRepeatedThoughItsSearchTakesLongerThanACall(ShopDatabase database) {
        start(database);
        assertThat(this.queue.cancel(QUEUE.value(), ID)).isEqualTo(CancelResult.CANCELLED);
        await().untilAsserted(() -> assertThat(accepted('C')).hasSize(1));
        StatementGate gate = new StatementGate();
        gate.delay("operation = 'C' AND queue_name", SHORT.plusSeconds(1));
        DataSource slow = (DataSource) gate.postProcessAfterInitialization(this.database.dataSource(), "dataSource");

        assertThatCode(() -> prepare(new JournalDatabase(slow, "dq"), SHORT, EndedRevisions.LIMIT))
            .doesNotThrowAnyException();
    }

    /** A listener of an event runs on this thread, and may interrupt it. */
    @EachDatabase
    void anInterruptDoesNotEndTheReconciler(ShopDatabase database) {
        start(database);
        this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class).start();
        Thread reconciler = Thread.getAllStackTraces()
            .keySet()
            .stream()
            .filter((each) -> each.getName().equals("delayqueue-journal-reconciler"))
            .findFirst()
            .orElseThrow();
        await().until(() -> reconciler.getState() == Thread.State.TIMED_WAITING);

        reconciler.interrupt();

        await().until(() -> !reconciler.isInterrupted());
        send("another", OnDuplicate.REPLACE);
        assertThat(this.queue.cancel(QUEUE.value(), ID)).isEqualTo(CancelResult.CANCELLED);
        await().untilAsserted(
                () -> assertThat(jdbc().sql("SELECT COUNT(*) FROM delayqueue_ended").query(Long.class).single())
                    .isPositive());
    }

    /** A copy from the time of a lease has the message, and the one that followed it. */
    @EachDatabase
    void aSuccessorThatHasEndedIsRemoved(ShopDatabase database) {
        start(database);
        assertThat(claim().messages()).hasSize(1);
        assertThat(send("second", OnDuplicate.AFTER_CURRENT)).isEqualTo(SendOutcome.AFTER_CURRENT);
        await().untilAsserted(() -> assertThat(revisions()).hasSize(2));
        end(revisions());
        deleteRows();

        prepare();

        endLease();
        assertThat(claim().messages()).isEmpty();
        assertThat(this.queue.find(QUEUE.value(), ID)).isEmpty();
    }

    /** An older copy of Redis may bring back messages that have ended. */
    @EachDatabase
    void endsAreForgottenAfterAnHour(ShopDatabase database) {
        start(database);
        end(List.of(101L));
        jdbc().sql("UPDATE delayqueue_ended SET recorded_at = recorded_at - 3590000").update();
        end(List.of(102L));
        assertThat(remembered()).containsExactly(101, 102);
        assertThat(this.ended.deleteOld()).isFalse();
        assertThat(remembered()).containsExactly(101, 102);

        jdbc().sql("UPDATE delayqueue_ended SET recorded_at = recorded_at - 20000").update();

        assertThat(remembered()).containsExactly(102);
        assertThat(this.ended.deleteOld()).isFalse();
        assertThat(jdbc().sql("SELECT COUNT(*) FROM delayqueue_ended").query(Long.class).single()).isOne();
    }

    /** Sends messages, and handles none. */
    @EnableAutoConfiguration
    static class Sender {

    }

}
