package io.delayqueue.shop;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.CancelResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.SmartLifecycle;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests a queue whose mode changes while it has messages. */
@Tag("server")
class ModeChangeTests {

    private static final Duration PATIENCE = Duration.ofMinutes(4);

    private RedisServer redis;

    private ShopApplication shop;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stop() {
        this.shop.close();
        this.redis.close();
    }

    /**
     * P6: the rows of messages of a former ledger are deleted when they end, so that
     * nothing is restored later; after that the queue is an ordinary one.
     */
    @Test
    @Tag("matrix")
    void aLedgerThatIsLeftEndsWithItsMessages() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url, "delayqueue.listener.auto-startup=false");
        this.shop.queue().send(ORDERS, "1", "of the ledger", Duration.ZERO);
        await().untilAsserted(() -> assertThat(layout()).contains("j"));
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, url, "delayqueue.queues.orders.journal-mode=outbox");
        assertThat(this.shop.queue().send(ORDERS, "2", "of the outbox", Duration.ofHours(1)).outcome())
            .isEqualTo(SendOutcome.SCHEDULED);

        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("of the ledger"));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(layout()).doesNotContain("j"));
        assertThat(this.redis.commands().exists("dq:{orders}:changes")).isZero();
    }

    /** P1: the schedules of a former ledger are fired while it has rows. */
    @Test
    void theSchedulesOfALedgerThatIsLeftGoOn() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().send(ORDERS, "1", "of the ledger", Duration.ofHours(1));
        await().untilAsserted(() -> assertThat(layout()).contains("j"));
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, url, "delayqueue.queues.orders.journal-mode=outbox");
        ScheduleOperations schedules = this.shop.queue().schedules(ORDERS);
        schedules.put(ScheduleDefinition.fixedRate("tick", Duration.ofMillis(200)).payload("of the schedule").build());

        await().untilAsserted(() -> assertThat(this.shop.shop().handled).hasSizeGreaterThan(2));
        assertThat(layout()).contains("j");
        assertThat(this.shop.rows()).isOne();
        schedules.remove("tick");
    }

    /** P1: a queue may become a ledger while it has messages, which have no rows. */
    @Test
    void aQueueBecomesALedgerWithItsMessages() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url, "delayqueue.queues.orders.journal-mode=off",
                "delayqueue.listener.auto-startup=false");
        this.shop.queue().send(ORDERS, "1", "before", Duration.ZERO);
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().send(ORDERS, "2", "after", Duration.ZERO);

        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactlyInAnyOrder("before", "after"));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    /**
     * P1, P9: a ledger that is turned off without the way by the outbox, and on again,
     * has the ends of the time between: Redis has kept them, and no message came.
     */
    @Test
    void aLedgerIsTurnedOffAndOnAgain() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url, "delayqueue.listener.auto-startup=false");
        this.shop.queue().send(ORDERS, "1", "handled while off", Duration.ZERO);
        this.shop.queue().send(ORDERS, "2", "waits", Duration.ofHours(1));
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(layout()).contains("j"));
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, url, "delayqueue.queues.orders.journal-mode=off");
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("handled while off"));
        assertThatThrownBy(() -> this.shop.queue().send(ORDERS, "3", "without a row", Duration.ofHours(1)))
            .isInstanceOf(StoreRefusedException.class);
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, url);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.rows()).isOne());
        this.redis.commands().flushall();
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.queue().find(ORDERS, "2")).isPresent());
        assertThat(this.shop.shop().handled).isEmpty();
    }

    /**
     * P1: on the way to a ledger no sender is rejected, if all have the outbox before.
     */
    @Test
    void aSenderWithTheOutboxIsNotRejectedByALedger() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().send(ORDERS, "1", "of the ledger", Duration.ofHours(1));
        await().untilAsserted(() -> assertThat(layout()).contains("j"));

        try (ShopApplication other = ShopApplication.start(this.redis, url,
                "delayqueue.queues.orders.journal-mode=outbox")) {
            assertThat(other.queue().send(ORDERS, "2", "of the outbox", Duration.ofHours(1)).outcome())
                .isEqualTo(SendOutcome.SCHEDULED);
            assertThat(other.queue().cancel(ORDERS, "1")).isEqualTo(CancelResult.CANCELLED);
        }

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        assertThat(this.shop.queue().find(ORDERS, "2")).isPresent();
    }

    /**
     * P1, P6: the rows of a former ledger have the changes of nodes that are no ledger.
     */
    @Test
    void aMessageOfALedgerThatIsLeftIsRestoredAsItWasChangedSince() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().send(ORDERS, "1", "of the ledger", Duration.ofHours(1));
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isOne());
        await().untilAsserted(() -> assertThat(layout()).contains("j"));
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, url, "delayqueue.queues.orders.journal-mode=outbox");
        this.shop.queue().reschedule(ORDERS, "1", Duration.ofHours(2));
        Instant due = this.shop.queue().find(ORDERS, "1").orElseThrow().dueAt();
        this.redis.commands().flushall();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.queue().find(ORDERS, "1")).isPresent());
        assertThat(this.shop.queue().find(ORDERS, "1").orElseThrow().dueAt()).isEqualTo(due);
    }

    /**
     * P1: a node without a mode for the queue, such as one that only consumes it, keeps
     * the rows of the requests that it applies for other nodes.
     */
    @Test
    void aMessageOfALedgerThatANodeWithoutAModeHasAppliedIsRestored() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url, "delayqueue.journal.maintenance=false");
        this.shop.transaction().executeWithoutResult((status) -> {
            this.shop.queue().send(ORDERS, "1", "of the ledger", Duration.ofHours(1));
            // As if inserted by a node that ended a while ago.
            this.shop.jdbc().sql("UPDATE delayqueue_journal SET claimed_by = 'another', claimed_until = 0").update();
        });
        await().untilAsserted(() -> assertThat(layout()).contains("j"));

        try (ShopApplication other = ShopApplication.start(this.redis, url,
                "delayqueue.queues.orders.journal-mode=off")) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.accepted()).isOne());
            assertThat(other.queue().find(ORDERS, "1")).isPresent();
        }
        assertThat(this.redis.commands().hlen("dq:{orders}:revisions")).isOne();
        this.redis.commands().flushall();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.queue().find(ORDERS, "1")).isPresent());
    }

    /** P1: a request is applied although no node has a mode for its queue. */
    @Test
    void aRequestOnAQueueWithoutAModeIsApplied() {
        String url = ShopDatabase.POSTGRESQL.url();
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.context().getBean("delayQueueJournalRelay", SmartLifecycle.class).stop();
        this.shop.queue().send(ORDERS, "1", "left behind", Duration.ZERO);
        this.shop.jdbc().sql("UPDATE delayqueue_journal SET claimed_until = 0").update();
        this.shop.close();
        this.redis.commands().flushall();

        this.shop = ShopApplication.start(this.redis, url, "delayqueue.queues.orders.journal-mode=off");

        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("left behind"));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    private String layout() {
        String layout = this.redis.commands().get("dq:{orders}:partitions");
        return (layout != null) ? layout : "";
    }

}
