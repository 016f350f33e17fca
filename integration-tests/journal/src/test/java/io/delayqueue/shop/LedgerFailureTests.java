package io.delayqueue.shop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.template.DelayQueueTemplate;
import io.lettuce.core.Range;
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
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
                        "--delayqueue.command-timeout=2s", "--delayqueue.listener.backoff.multiplier=1",
                        "--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
        arguments.addAll(List.of(settings));
        this.context = SpringApplication.run(Handler.class, arguments.toArray(String[]::new));
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.handler = this.context.getBean(Handler.class);
    }

    /** P9: a restored message has the rest of its attempts. */
    @EachDatabase
    void failedAttemptsOfARestoredMessageCount(ShopDatabase database) {
        start(database, "--delayqueue.listener.max-attempts=3", "--delayqueue.listener.backoff.initial=10s");
        this.queue.send(QUEUE, "1", "content", Duration.ZERO);
        await().untilAsserted(() -> assertThat(failures()).containsExactly(1));
        awaitRecorded();

        redis.commands().flushall();

        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(deadLetters()).hasSize(1));
        assertThat(deadLetters().get(0).failures()).isEqualTo(3);
        assertThat(this.handler.calls).hasValue(3);
    }

    /** P1: a restored message that has failed expires when it would have. */
    @EachDatabase
    void aRestoredMessageExpiresWhenItWouldHave(ShopDatabase database) {
        // The retry of the brief one is due after its end.
        start(database, "--delayqueue.listener.backoff.initial=30m", "--delayqueue.listener.backoff.max=30m");
        this.queue.send(message("lasting").timeToLive(Duration.ofHours(1)).build());
        this.queue.send(message("brief").timeToLive(Duration.ofMinutes(1)).build());
        await().untilAsserted(() -> assertThat(failures()).containsExactly(1, 1));
        awaitRecorded();
        StoredMessage lasting = this.queue.find(QUEUE, "lasting").orElseThrow();
        StoredMessage brief = this.queue.find(QUEUE, "brief").orElseThrow();

        redis.commands().flushall();

        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(this.queue.find(QUEUE, "lasting")).isPresent());
        assertThat(this.queue.find(QUEUE, "lasting").orElseThrow().expiresAt()).isEqualTo(lasting.expiresAt());
        assertThat(this.queue.find(QUEUE, "brief").orElseThrow().expiresAt()).isEqualTo(brief.dueAt().plusMillis(1));
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

        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(deadLetters()).containsExactlyElementsOf(before));
        this.handler.failing = false;
        this.queue.deadLetters(QUEUE).redrive(before.get(0).id());
        await().untilAsserted(() -> assertThat(rows("delayqueue_dead_letter")).isOne());
        await().untilAsserted(() -> assertThat(rows("delayqueue_journal")).isZero());
        assertThat(this.handler.calls).hasValue(3);
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
        assertThat(output).contains("The database refuses dead letter").contains("of queue '" + QUEUE + "' with");
    }

    private void awaitRecorded() {
        await().until(() -> redis.commands().zcount(CHANGES, Range.create(0, 8e15)) == 0);
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
