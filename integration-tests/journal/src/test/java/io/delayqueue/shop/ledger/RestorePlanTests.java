package io.delayqueue.shop.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.journal.RestoreStep;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests which messages a restore on demand selects, what it counts, and how fast it is.
 */
@Tag("server")
class RestorePlanTests {

    private static final Duration LATER = Duration.ofHours(1);

    /** A queue without a listener. */
    private static final String QUEUE = "waiting";

    private static final RestorePlan PLAN = RestorePlan.all().queue(QUEUE);

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
        redis.commands().configSet("maxmemory", "0");
        this.shop.close();
        redis.commands().flushall();
    }

    /** Stores messages that Redis then loses without a trace. */
    private void lost(DelayedMessage... messages) {
        this.shop.queue().sendAll(List.of(messages));
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isEqualTo(messages.length));
        await().untilAsserted(() -> assertThat(ShopApplication.calls(redis, QUEUE)).isGreaterThan(1));
        this.shop.reconciler().stop(); // or it restores them first
        for (DelayedMessage message : messages) {
            ShopApplication.lose(redis, QUEUE, message.id().orElseThrow());
        }
    }

    private static DelayedMessage.Builder message(String id, Duration delay) {
        return DelayedMessage.builder(QUEUE, "content").id(id).delay(delay);
    }

    private boolean isThere(String id) {
        return this.shop.queue().find(QUEUE, id).isPresent();
    }

    @EachDatabase
    void messagesAreSelectedByTheirDueTimes(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        lost(message("soon", Duration.ofMinutes(1)).build(), message("next", LATER).build(),
                message("last", LATER.multipliedBy(3)).build());
        Instant time = Instant.ofEpochSecond(Long.parseLong(redis.commands().time().get(0)));

        RestoreReport report = this.shop.journal().restore(PLAN.dueBefore(time.plus(LATER.multipliedBy(2))));

        assertThat(report).isEqualTo(new RestoreReport(2, 0, 0, 0));
        assertThat(List.of(isThere("soon"), isThere("next"), isThere("last"))).containsExactly(true, true, false);
    }

    @EachDatabase
    void expiredMessagesAreSkippedUnlessTheyAreIncluded(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        lost(message("expired", LATER).timeToLive(Duration.ofSeconds(1)).build(), message("valid", LATER).build());
        this.shop.jdbc().sql("UPDATE delayqueue_journal SET due_millis = 1 WHERE message_id = 'expired'").update();

        assertThat(this.shop.journal().restore(PLAN)).isEqualTo(new RestoreReport(1, 0, 1, 0));
        assertThat(this.shop.journal().restore(PLAN.withExpired())).isEqualTo(new RestoreReport(1, 1, 0, 0));
    }

    /** P1: a page of rows that this version cannot read does not end the restore. */
    @EachDatabase
    void messagesBehindUnreadableRowsAreRestored(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        lost(message("unreadable", LATER).build(), message("readable", LATER.multipliedBy(2)).build());
        this.shop.jdbc()
            .sql("UPDATE delayqueue_journal SET on_duplicate = 'OTHER' WHERE message_id = 'unreadable'")
            .update();

        assertThat(this.shop.journal().restore(PLAN.rate(1))).isEqualTo(new RestoreReport(1, 0, 0, 0));
        assertThat(isThere("readable")).isTrue();
    }

    /** P1: the rows that are read for messages due soon are read page by page. */
    @EachDatabase
    void aMessageThatIsDueSoonIsFoundBehindManyRows(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        lost(message("soon", Duration.ofMinutes(1)).build());
        insertCancels();

        assertThat(this.shop.journal().restore(PLAN)).isEqualTo(new RestoreReport(1, 0, 0, 0));
        ShopApplication.lose(redis, QUEUE, "soon");
        RestoreStep step = this.shop.journal().restore(PLAN, null);

        assertThat(step.report()).isEqualTo(new RestoreReport(1, 0, 0, 0));
        assertThat(isThere("soon")).isTrue();
    }

    /** Inserts 16,384 rows that a search reads before those of messages. */
    private void insertCancels() {
        String insert = "INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, "
                + "recorded_at, accepted, checks, claimed_by, claimed_until) ";
        this.shop.jdbc().sql(insert + "VALUES ('dq', 'waiting', 'cancelled', 'C', FALSE, 0, TRUE, 0, '-', 1)").update();
        for (int i = 0; i < 14; i++) {
            this.shop.jdbc()
                .sql(insert + "SELECT namespace, queue_name, message_id, operation, due_relative, recorded_at, "
                        + "accepted, checks, claimed_by, claimed_until FROM delayqueue_journal WHERE operation = 'C'")
                .update();
        }
    }

    /** P1: messages that Redis refuses are counted, and restored by the next attempt. */
    @EachDatabase
    void messagesThatRedisDoesNotAcceptCountAsFailed(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        lost(message("1", LATER).build(), message("2", LATER).build());
        redis.commands().configSet("maxmemory", "1");

        assertThat(this.shop.journal().restore(PLAN)).isEqualTo(new RestoreReport(0, 0, 0, 2));
        redis.commands().configSet("maxmemory", "0");

        assertThat(this.shop.journal().restore(PLAN)).isEqualTo(new RestoreReport(2, 0, 0, 0));
    }

    @EachDatabase
    void aRateLimitsTheMessagesOfASecond(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        lost(IntStream.range(0, 5).mapToObj((i) -> message("m" + i, LATER).build()).toArray(DelayedMessage[]::new));

        long begin = System.nanoTime();
        RestoreReport report = this.shop.journal().restore(PLAN.rate(2));
        Duration taken = Duration.ofNanos(System.nanoTime() - begin);

        // The automatic restore may have been first with some of them.
        assertThat(report.restored() + report.known()).isEqualTo(5);
        assertThat(taken).isGreaterThanOrEqualTo(Duration.ofMillis(2500));
    }

    /** P9: two nodes that restore the same messages store each of them once. */
    @EachDatabase
    void twoRestoresAtOnceRestoreEachMessageOnce(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(redis, url);
        try (ShopApplication other = ShopApplication.start(redis, url)) {
            lost(IntStream.range(0, 300)
                .mapToObj((i) -> message("m" + i, LATER).build())
                .toArray(DelayedMessage[]::new));

            CompletableFuture<RestoreReport> first = CompletableFuture
                .supplyAsync(() -> this.shop.journal().restore(PLAN));
            RestoreReport second = other.journal().restore(PLAN);

            assertThat(List.of(first.join(), second)).allMatch((report) -> report.failed() == 0)
                .allMatch((report) -> report.restored() + report.known() == 300);
            assertThat(first.join().restored() + second.restored()).isLessThanOrEqualTo(300);
            assertThat(this.shop.queue().statistics(QUEUE).scheduled()).isEqualTo(300);
        }
    }

}
