package io.delayqueue.shop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.journal.RestoreStep;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.template.DelayQueueTemplate;
import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that failed attempts and dead letters of a ledger outlive a loss of Redis. */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class LedgerFailureTests {

    private static final String QUEUE = "failing";

    private static final String CHANGES = "dq:{failing}:changes";

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private DelayQueueTemplate queue;

    private Handler handler;

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
            jdbc().sql("DELETE FROM delayqueue_dead_letter").update();
            this.context.close();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database, String... settings) {
        List<String> arguments = new ArrayList<>(
                List.of("--spring.data.redis.port=" + redis.port(), "--spring.datasource.url=" + database.url(),
                        "--delayqueue.journal.mode=ledger", "--delayqueue.journal.jdbc.initialize-schema=always",
                        "--delayqueue.command-timeout=10s", "--delayqueue.listener.backoff.multiplier=1",
                        "--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
        arguments.addAll(List.of(settings));
        this.context = new SpringApplication(Handler.class, StatementGate.class).run(arguments.toArray(String[]::new));
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.handler = this.context.getBean(Handler.class);
    }

    /** P9: a restored message has the rest of its attempts. */
    @EachDatabase
    @Tag("matrix")
    void failedAttemptsOfARestoredMessageCount(ShopDatabase database) {
        start(database, "--delayqueue.listener.max-attempts=3", "--delayqueue.listener.backoff.initial=10s");
        this.queue.send(QUEUE, "1", "content", Duration.ZERO);
        await().untilAsserted(() -> assertThat(failures()).containsExactly(1));
        awaitRecorded();

        redis.commands().flushall();

        await().untilAsserted(() -> assertThat(deadLetters()).hasSize(1));
        assertThat(deadLetters().get(0).failures()).isEqualTo(3);
        assertThat(this.handler.calls).hasValue(3);
    }

    /**
     * P1, P3: a restored message that has failed is retried, and expires, when it would.
     */
    @EachDatabase
    void aRestoredMessageExpiresWhenItWouldHave(ShopDatabase database) {
        startWithLongBackoff(database);
        this.queue.send(message("lasting").timeToLive(Duration.ofHours(1)).build());
        this.queue.send(expiringBeforeItsRetry());
        awaitFailures(1, 1);
        awaitAccepted(2);

        assertRestoredAsItWas();
    }

    /** P1, P3: it does not matter which of both is recorded first. */
    @EachDatabase
    void aFailureIsRecordedBeforeItsRowIsAccepted(ShopDatabase database) {
        startWithLongBackoff(database);
        StatementGate gate = this.context.getBean(StatementGate.class);
        gate.close(StatementGate.ACCEPTANCE);
        try {
            this.queue.send(expiringBeforeItsRetry());
            awaitFailures(1);
            assertThat(acceptedRows()).isZero();
        }
        finally {
            gate.open();
        }
        awaitAccepted(1);

        assertRestoredAsItWas();
    }

    /** P9: an older copy of Redis has a message as before its last failure. */
    @EachDatabase
    void anOlderCopyRunsNoMessageBeforeItsRetry(ShopDatabase database) {
        startWithLongBackoff(database);
        listeners().forEach(ListenerContainer::pause);
        this.queue.send(message("lasting").build());
        awaitAccepted(1);
        RedisCopy copy = RedisCopy.of(redis);
        listeners().forEach(ListenerContainer::resume);
        awaitFailures(1);
        listeners().forEach(ListenerContainer::pause);
        List<StoredMessage> before = stored();

        copy.restore(redis);

        await().untilAsserted(
                () -> assertThat(stored()).extracting(StoredMessage::dueAt).containsExactly(before.get(0).dueAt()));
        listeners().forEach(ListenerContainer::resume);
        assertThat(this.handler.calls).hasValue(1);
    }

    /**
     * P8, P9: Redis keeps the due time of a message of a group, whose next attempt is
     * later.
     */
    @EachDatabase
    void aRestoreMovesNoMessageThatWaitsForItsRetry(ShopDatabase database) {
        startWithLongBackoff(database);
        this.queue.send(message("first").group("g").build());
        awaitFailures(1);
        this.queue.send(message("second").group("g").build());
        this.queue.send(message("lasting").timeToLive(Duration.ofHours(2)).build());
        awaitFailed(3, 1);
        List<StoredMessage> before = stored();

        JournalOperations journal = this.context.getBean(JournalOperations.class);
        assertThat(journal.restore(RestorePlan.all().queue(QUEUE))).isEqualTo(new RestoreReport(0, 3, 0, 0));

        this.queue.send(QUEUE, "after", "content", Duration.ZERO);
        awaitFailed(4, 1);
        assertThat(failuresOf("second")).isZero();
        assertThat(stored()).isEqualTo(before);
    }

    private Collection<ListenerContainer> listeners() {
        return this.context.getBean(DelayedListenerRegistry.class).listeners();
    }

    private void startWithLongBackoff(ShopDatabase database) {
        start(database, "--delayqueue.listener.backoff.initial=30m", "--delayqueue.listener.backoff.max=30m");
    }

    private static DelayedMessage expiringBeforeItsRetry() {
        return message("brief").timeToLive(Duration.ofMinutes(10)).build();
    }

    /** Waits until all of a number of messages but some have failed once. */
    private void awaitFailed(int messages, int others) {
        await().untilAsserted(() -> assertThat(failures()).hasSize(messages)
            .filteredOn((count) -> count == 1)
            .hasSize(messages - others));
        awaitRecorded();
    }

    private int failuresOf(String id) {
        return jdbc().sql("SELECT failures FROM delayqueue_journal WHERE message_id = ?")
            .param(id)
            .query(Integer.class)
            .single();
    }

    private void awaitFailures(Integer... counts) {
        await().untilAsserted(() -> assertThat(failures()).containsExactly(counts));
        awaitRecorded();
    }

    private void assertRestoredAsItWas() {
        List<StoredMessage> before = stored();
        int calls = this.handler.calls.get();

        redis.commands().flushall();

        await().untilAsserted(() -> assertThat(stored()).extracting(StoredMessage::dueAt)
            .containsExactlyElementsOf(before.stream().map(StoredMessage::dueAt).toList()));
        assertThat(stored()).extracting(StoredMessage::expiresAt)
            .containsExactlyElementsOf(before.stream().map(StoredMessage::expiresAt).toList());
        assertThat(this.handler.calls).hasValue(calls);
    }

    private List<StoredMessage> stored() {
        return Stream.of("lasting", "brief").flatMap((id) -> this.queue.find(QUEUE, id).stream()).toList();
    }

    private static DelayedMessage.Builder message(String id) {
        return DelayedMessage.builder(QUEUE, "content").id(id);
    }

    /** P1: a dead letter is restored, and can be redriven. */
    @EachDatabase
    void deadLettersAreRestored(ShopDatabase database) {
        start(database, "--delayqueue.listener.max-attempts=1");
        this.queue.send(QUEUE, "1", "content", Duration.ZERO);
        this.queue.send(QUEUE, "2", "content", Duration.ZERO);
        await().untilAsserted(() -> assertThat(deadLetters()).hasSize(2));
        List<DeadLetter> before = deadLetters();
        await().untilAsserted(() -> assertThat(rows("delayqueue_dead_letter")).isEqualTo(2));
        assertThat(rows("delayqueue_journal")).isZero();
        awaitRecorded();

        redis.commands().flushall();

        await().untilAsserted(() -> assertThat(deadLetters()).containsExactlyElementsOf(before));
        this.handler.failing = false;
        this.queue.deadLetters(QUEUE).redrive(before.get(0).id());
        await().untilAsserted(() -> assertThat(rows("delayqueue_dead_letter")).isOne());
        await().untilAsserted(() -> assertThat(rows("delayqueue_journal")).isZero());
        assertThat(this.handler.calls).hasValue(3);
    }

    /** P1: an operator restores the dead letters of all queues, at once or in steps. */
    @EachDatabase
    void deadLettersAreRestoredOnDemand(ShopDatabase database) {
        start(database, "--delayqueue.listener.max-attempts=1");
        for (int i = 0; i < 50; i++) {
            this.queue.send(QUEUE, "m" + i, "content", Duration.ZERO);
        }
        await().untilAsserted(() -> assertThat(rows("delayqueue_dead_letter")).isEqualTo(50));
        this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class).stop();
        JournalOperations journal = this.context.getBean(JournalOperations.class);

        redis.commands().flushall();
        assertThat(journal.restore(RestorePlan.all().asDryRun())).isEqualTo(new RestoreReport(50, 0, 0, 0));
        assertThat(this.queue.statistics(QUEUE).dead()).isZero();
        assertThat(journal.restore(RestorePlan.all())).isEqualTo(new RestoreReport(50, 0, 0, 0));
        assertThat(this.queue.statistics(QUEUE).dead()).isEqualTo(50);

        redis.commands().flushall();
        long restored = 0;
        String cursor = null;
        do {
            RestoreStep step = journal.restore(RestorePlan.all().queue(QUEUE), cursor);
            restored += step.report().restored();
            assertThat(step.report().restored()).isLessThanOrEqualTo(20);
            cursor = step.nextCursor();
        }
        while (cursor != null);
        assertThat(restored).isEqualTo(50);
    }

    /** P6: a dead letter that was removed does not return. */
    @EachDatabase
    void removedDeadLettersAreNotRestored(ShopDatabase database) {
        start(database, "--delayqueue.listener.max-attempts=1");
        this.queue.send(QUEUE, "1", "content", Duration.ZERO);
        await().untilAsserted(() -> assertThat(rows("delayqueue_dead_letter")).isOne());

        this.queue.deadLetters(QUEUE).purgeAll();

        await().untilAsserted(() -> assertThat(rows("delayqueue_dead_letter")).isZero());
        assertThat(rows("delayqueue_journal")).isZero();
    }

    /** P1: one dead letter that the database refuses prevents no other record. */
    @EachDatabase
    void aRefusedDeadLetterIsLeftOut(ShopDatabase database, CapturedOutput output) {
        start(database, "--delayqueue.listener.max-attempts=1");
        jdbc().sql("ALTER TABLE delayqueue_dead_letter ADD CHECK (OCTET_LENGTH(content) < 5000)").update();
        this.queue.send(QUEUE, "large", "large".repeat(1000), Duration.ZERO);
        this.queue.send(QUEUE, "small", "small", Duration.ZERO);

        await().untilAsserted(() -> assertThat(deadLetters()).hasSize(2));
        await().untilAsserted(() -> assertThat(rows("delayqueue_journal")).isZero());
        assertThat(rows("delayqueue_dead_letter")).isOne();
        awaitRecorded();
        assertThat(output).contains("The database refuses dead letter")
            .contains("of queue '" + QUEUE + "' with")
            .contains("with SQL state 23")
            .doesNotContain("largelarge")
            .doesNotContain("6c617267656c61726765"); // as drivers quote bytes
    }

    /** Waits also while Redis, or this process, stalls. */
    private static ConditionFactory await() {
        return Awaitility.await()
            .atMost(Duration.ofMinutes(2))
            .ignoreExceptionsInstanceOf(StoreUnavailableException.class);
    }

    private void awaitRecorded() {
        await().until(() -> redis.commands().zcount(CHANGES, Range.create(0, 8e15)) == 0);
    }

    private void awaitAccepted(int rows) {
        await().untilAsserted(() -> assertThat(acceptedRows()).isEqualTo(rows));
    }

    private long acceptedRows() {
        return rows("delayqueue_journal WHERE accepted = TRUE");
    }

    private List<DeadLetter> deadLetters() {
        return this.queue.deadLetters(QUEUE).list(null, 10).deadLetters();
    }

    private List<Integer> failures() {
        return jdbc().sql("SELECT failures FROM delayqueue_journal").query(Integer.class).list();
    }

    private long rows(String table) {
        return jdbc().sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    /** Handles messages, and fails while {@code failing} is set. */
    @EnableAutoConfiguration
    static class Handler {

        final AtomicInteger calls = new AtomicInteger();

        volatile boolean failing = true;

        @DelayedListener(QUEUE)
        void handle(String content) {
            this.calls.incrementAndGet();
            if (this.failing) {
                throw new IllegalStateException("The shop is closed");
            }
        }

    }

}
