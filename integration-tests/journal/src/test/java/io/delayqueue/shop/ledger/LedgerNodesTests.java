package io.delayqueue.shop.ledger;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.SmartLifecycle;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests a ledger with several applications: which of them sweeps, those that only handle
 * messages, and those that leave the work for all nodes to others. Also tests what a
 * database may do to ids and contents.
 */
@Tag("server")
class LedgerNodesTests {

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

    /** P1: one node sweeps for all, and another one takes its place when it ends. */
    @EachDatabase
    @Tag("matrix")
    void oneNodeSweepsUntilItEnds(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(redis, url);
        try (ShopApplication other = ShopApplication.start(redis, url)) {
            this.shop.queue()
                .sendAll(IntStream.range(0, 500)
                    .mapToObj((i) -> DelayedMessage.builder(QUEUE, "content").id("m" + i).delay(LATER).build())
                    .toList());
            await().untilAsserted(() -> assertThat(this.shop.accepted()).isEqualTo(500));

            this.shop.makeOverdue();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.swept() + other.swept()).isEqualTo(500));
            assertThat(Math.min(this.shop.swept(), other.swept())).isZero();
            boolean first = this.shop.swept() > 0;
            (first ? this.shop : other).reconciler().stop();
            other.makeOverdue();

            await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat((first ? other : this.shop).swept()).isEqualTo(500));
        }
    }

    /**
     * P1: nodes leave the calls to the maintainer while it calls, so idle calls do not
     * grow with the nodes; when it has ended, they notice a loss themselves.
     */
    @Test
    @Tag("matrix")
    void nodesCallAQueueRarelyWhileTheMaintainerDoes() {
        String url = ShopDatabase.H2.url();
        this.shop = ShopApplication.start(redis, url);
        this.shop.queue().send(QUEUE, "content", LATER);
        await().untilAsserted(() -> assertThat(
                this.shop.jdbc().sql("SELECT maintainer FROM delayqueue_journal_identity").query(String.class).single())
            .isNotEmpty());
        try (ShopApplication second = ShopApplication.start(redis, url);
                ShopApplication third = ShopApplication.start(redis, url)) {
            List.of(second, third).forEach((node) -> node.queue().send(QUEUE, "content", LATER));
            CallRate rate = new CallRate();
            await().atMost(PATIENCE.multipliedBy(2))
                .pollInterval(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(rate.next()).isLessThan(2));

            this.shop.reconciler().stop();
            redis.commands().flushall();

            await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(redis.commands().hlen("dq:{" + QUEUE + "}:messages")).isEqualTo(3));
        }
    }

    /**
     * The database has the message. Without any replica, a send would fail, and its row
     * would remain pending.
     */
    @Test
    void aSendToALedgerDoesNotWaitForReplicas() {
        this.shop = ShopApplication.start(redis, ShopDatabase.POSTGRESQL.url(),
                "delayqueue.durability.wait-replicas=1");

        assertThat(this.shop.queue().send(QUEUE, "1", "content", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.accepted()).isOne());
        assertThat(this.shop.queue().cancel(QUEUE, "1")).isEqualTo(CancelResult.CANCELLED);
    }

    /** P1: consumers need neither the journal nor its database. */
    @EachDatabase
    void aConsumerWithoutTheJournalEndsMessages(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send(QUEUE, "handled", "content", Duration.ZERO);
        this.shop.queue().send(QUEUE, "waits", "content", LATER);
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(ShopApplication.calls(redis, QUEUE)).isGreaterThan(1));

        try (ShopApplication consumer = ShopApplication.start(redis, ShopDatabase.H2.url(),
                "delayqueue.queues." + QUEUE + ".journal-mode=off")) {
            consumer.queue().receive(QUEUE, Duration.ofSeconds(30)).orElseThrow().acknowledge();
        }

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.rows()).isOne());
        redis.commands().flushall();
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.shop.queue().find(QUEUE, "waits")).isPresent());
        assertThat(this.shop.queue().find(QUEUE, "handled")).isEmpty();
    }

    /** P6: a cancel or a restore of one id or queue touches no other one. */
    @EachDatabase
    void namesThatDifferInTheirCaseAreDifferent(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        for (String queue : List.of("waiting", "Waiting")) {
            for (String id : List.of("a", "A")) {
                assertThat(this.shop.queue().send(queue, id, "content", LATER).outcome())
                    .isEqualTo(SendOutcome.SCHEDULED);
            }
            await().untilAsserted(() -> assertThat(ShopApplication.calls(redis, queue)).isGreaterThan(1));
        }
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isEqualTo(4));
        assertThat(this.shop.queue().cancel("waiting", "a")).isEqualTo(CancelResult.CANCELLED);
        await().untilAsserted(() -> assertThat(this.shop.rows()).isEqualTo(3));
        List.of("waiting", "Waiting").forEach((queue) -> ShopApplication.lose(redis, queue, "A"));

        RestoreReport report = this.shop.journal().restore(RestorePlan.all().queue("waiting"));

        assertThat(report).isEqualTo(new RestoreReport(1, 0, 0, 0));
        assertThat(this.shop.queue().find("waiting", "A")).isPresent();
        assertThat(this.shop.queue().find("Waiting", "A")).isEmpty();
        assertThat(this.shop.journal().restore(RestorePlan.all().queue("Waiting").id("a")))
            .isEqualTo(new RestoreReport(0, 1, 0, 0));
    }

    /** P1: the sender learns that nothing was recorded, and Redis gets nothing. */
    @EachDatabase
    void aMessageThatIsTooLargeForTheDatabaseIsRejected(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.jdbc().sql(switch (database) {
            case H2 -> "ALTER TABLE delayqueue_journal ALTER COLUMN envelope VARBINARY(255)";
            case POSTGRESQL -> "ALTER TABLE delayqueue_journal ADD CHECK (octet_length(envelope) <= 255)";
            case MARIADB -> "ALTER TABLE delayqueue_journal MODIFY envelope TINYBLOB";
        }).update();

        assertThatThrownBy(() -> this.shop.queue().send(QUEUE, "large", "x".repeat(300), LATER))
            .isInstanceOf(DataAccessException.class);
        assertThatThrownBy(() -> this.shop.transaction().execute((status) -> {
            this.shop.queue().send(QUEUE, "small", "content", LATER);
            return this.shop.queue().send(QUEUE, "large", "x".repeat(300), LATER);
        })).isInstanceOf(DataAccessException.class);

        assertThat(this.shop.queue().send(QUEUE, "next", "content", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(this.shop.rows()).isOne();
        assertThat(this.shop.queue().statistics(QUEUE).scheduled()).isOne();
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
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(status.unmaintained()).isPositive());

        try (ShopApplication other = ShopApplication.start(redis, url)) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(other.swept()).isEqualTo(50));
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(status.unmaintained()).isZero());
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

    /** Measures how often all nodes call the queue in a second. */
    private static final class CallRate {

        private long calls;

        private long at = System.nanoTime();

        private double next() {
            long now = System.nanoTime();
            long total = ShopApplication.calls(redis, QUEUE);
            double rate = (total - this.calls) * 1e9 / (now - this.at);
            this.calls = total;
            this.at = now;
            return rate;
        }

    }

}
