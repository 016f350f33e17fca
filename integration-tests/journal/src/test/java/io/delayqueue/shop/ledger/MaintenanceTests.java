package io.delayqueue.shop.ledger;

import java.time.Duration;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.context.SmartLifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests nodes that leave the work that one node does for all to others. */
@Tag("server")
class MaintenanceTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** A queue without a listener. */
    private static final String QUEUE = "waiting";

    private static RedisServer redis;

    private ShopApplication shop;

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
        this.shop.close();
        redis.commands().flushall();
    }

    /**
     * P1: a node without maintenance leaves overdue messages to another one, and reports
     * that none is there.
     */
    @EachDatabase
    void aNodeWithoutMaintenanceDoesNotSweep(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(redis, url, "delayqueue.journal.maintenance=false");
        this.shop.queue()
            .sendAll(IntStream.range(0, 50)
                .mapToObj((i) -> DelayedMessage.builder(QUEUE, "content").id("m" + i).delay(LATER).build())
                .toList());
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isEqualTo(50));
        this.shop.makeOverdue();
        JournalStatus status = this.shop.context().getBean(JournalFactory.class).status();
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(status.unkept()).isPositive());

        try (ShopApplication other = ShopApplication.start(redis, url)) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(other.swept()).isEqualTo(50));
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(status.unkept()).isZero());
        }
        assertThat(this.shop.swept()).isZero();
    }

    /** P1: and it leaves the requests of nodes that have ended to another one. */
    @EachDatabase
    void aNodeWithoutMaintenanceAppliesNoRequestsOfOthers(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(redis, url, "delayqueue.journal.maintenance=false");
        try (ShopApplication left = ShopApplication.start(redis, url, "delayqueue.journal.maintenance=false")) {
            left.context().getBean("delayQueueJournalRelay", SmartLifecycle.class).stop();
            assertThat(left.queue().send(QUEUE, "1", "content", LATER).outcome()).isEqualTo(SendOutcome.RECORDED);
        }
        this.shop.jdbc().sql("UPDATE delayqueue_journal SET claimed_until = 1").update();

        try (ShopApplication other = ShopApplication.start(redis, url)) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(applied(other)).isOne());
        }
        assertThat(applied(this.shop)).isZero();
        assertThat(this.shop.queue().find(QUEUE, "1")).isPresent();
    }

    /** It deletes no transitions whose retention time is over. */
    @EachDatabase
    void aNodeWithoutMaintenanceDeletesNoHistory(ShopDatabase database) {
        String url = database.url();
        String[] settings = { "delayqueue.journal.maintenance=false", "delayqueue.journal.history.retention=1h" };
        this.shop = ShopApplication.start(redis, url, settings);
        this.shop.queue().send(QUEUE, "1", "content", LATER);
        await().untilAsserted(() -> assertThat(history("1")).isOne());
        this.shop.jdbc().sql("UPDATE delayqueue_history SET occurred_at = 1").update();

        try (ShopApplication second = ShopApplication.start(redis, url, settings)) {
            second.queue().send(QUEUE, "2", "content", LATER);
            await().untilAsserted(() -> assertThat(history("2")).isOne()); // after it
                                                                           // could have
                                                                           // deleted
            assertThat(history("1")).isOne();
        }
        try (ShopApplication other = ShopApplication.start(redis, url, "delayqueue.journal.history.retention=1h")) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(history("1")).isZero());
        }
        assertThat(history("2")).isOne();
    }

    private long history(String id) {
        return this.shop.jdbc()
            .sql("SELECT COUNT(*) FROM delayqueue_history WHERE message_id = ?")
            .param(id)
            .query(Long.class)
            .single();
    }

    private static long applied(ShopApplication application) {
        return application.context().getBean(JournalFactory.class).status().applied();
    }

}
