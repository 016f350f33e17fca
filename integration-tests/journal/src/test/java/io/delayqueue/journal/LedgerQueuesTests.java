package io.delayqueue.journal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which nodes remove the mark of a ledger, and wait until it has no rows. */
@Tag("server")
class LedgerQueuesTests {

    private static final QueueName QUEUE = new QueueName("marked");

    private static RedisServer redis;

    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    private ConfigurableApplicationContext context;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @BeforeEach
    void start() {
        this.context = SpringApplication.run(Sender.class, "--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + ShopDatabase.H2.url(), "--delayqueue.journal.mode=ledger",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none");
    }

    @AfterEach
    void stop() {
        this.context.close();
        this.thread.shutdownNow();
        redis.commands().flushall();
    }

    /** P1: the queue may be a ledger on the nodes that send to it. */
    @ParameterizedTest
    @EnumSource(names = { "OFF", "AUDIT" })
    void aNodeThatRecordsNoRequestsKeepsTheMark(JournalMode mode) {
        record(mode);

        assertThat(layout()).contains("j");
    }

    @Test
    void aNodeWithAnOutboxRemovesTheMark() {
        record(JournalMode.OUTBOX);

        assertThat(layout()).doesNotContain("j");
    }

    /** Otherwise it would call the ledgers of other nodes each second, for good. */
    @ParameterizedTest
    @EnumSource(names = { "OFF", "AUDIT", "OUTBOX" })
    void onlyANodeWithAnOutboxWaitsForTheEndOfALedger(JournalMode mode) {
        JdbcClient.create(this.context.getBean(JournalDatabase.class).dataSource())
            .sql("INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, "
                    + "recorded_at, accepted, checks, claimed_by, claimed_until) "
                    + "VALUES ('dq', 'marked', '1', 'S', FALSE, 0, TRUE, 0, '-', 4000000000000)")
            .update();

        LedgerQueues queues = record(mode);

        assertThat(queues.contains(QUEUE)).isTrue();
        assertThat(queues.isLeaving(QUEUE)).isEqualTo(mode == JournalMode.OUTBOX);
    }

    /** Marks the queue, and then records its mode on a node. */
    private LedgerQueues record(JournalMode mode) {
        StoreComponents components = this.context.getBean(StoreComponents.class);
        components.partitions().ledger(QUEUE, true).join();
        assertThat(layout()).contains("j");
        JournalStatus status = new JournalStatus();
        status.backlog(QUEUE, 0);
        JournalTable table = new JournalTable(this.context.getBean(JournalDatabase.class), Duration.ofSeconds(20));
        OfferSender offers = new OfferSender(components, (queue) -> mode, Duration.ofSeconds(5));
        CompletableFuture<QueueName> opened = new CompletableFuture<>();
        LedgerQueues queues = new LedgerQueues(table, offers, status, new ReconcilerProblems(status),
                components.partitions(), opened::complete, this.thread);

        this.thread.execute(() -> queues.record(QUEUE));

        opened.join();
        return queues;
    }

    private static String layout() {
        return redis.commands().get("dq:{marked}:partitions");
    }

    /** Sends messages, and handles none. */
    @EnableAutoConfiguration
    static class Sender {

    }

}
