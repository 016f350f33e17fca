package io.delayqueue.shop;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests which messages the sweep of a ledger looks up, and how many in a second. */
@Tag("server")
class LedgerSweepTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final int ROWS = 3000;

    /** Outlasts the test, but is not taken for the claim of a node with a wrong clock. */
    private static final long CLAIMED_UNTIL = System.currentTimeMillis() + Duration.ofMinutes(9).toMillis();

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
     * Messages of a paused queue are overdue because of the pause: the sweep does not
     * look them up before its end.
     */
    @EachDatabase
    void messagesOfAPausedQueueAreNotLookedUp(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send("paused", "1", "waits", LATER);
        this.shop.queue().send("others", "2", "waits", LATER);
        await().untilAsserted(() -> assertThat(accepted()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(calls("paused")).isGreaterThan(1));
        await().untilAsserted(() -> assertThat(calls("others")).isGreaterThan(1));
        this.shop.queue().pause("paused");
        loseMessages("paused");
        loseMessages("others");

        this.shop.makeOverdue();

        await().untilAsserted(() -> assertThat(checks("paused")).isPositive());
        this.shop.makeOverdue();
        await().untilAsserted(() -> assertThat(List.of(checks("paused"), checks("others"))).allMatch((n) -> n > 1));
        // An answer may be on its way.
        await().untilAsserted(() -> assertThat(this.shop.swept()).isEqualTo(checks("others")));
        this.shop.reconciler().stop();
        // The recovery at the start may restore the paused message, so its absence proves
        // nothing.
        assertThat(this.shop.swept()).isEqualTo(checks("others"));
        assertThat(this.shop.queue().find("others", "2")).isPresent();
        this.shop.reconciler().start();
        this.shop.queue().resume("paused");
        this.shop.makeOverdue();
        await().untilAsserted(() -> assertThat(this.shop.swept()).isGreaterThan(checks("others")));
        assertThat(this.shop.queue().find("paused", "1")).isPresent();
    }

    /** A message that Redis holds is looked up less and less often. */
    @EachDatabase
    void theIntervalDoublesWhileRedisHoldsTheMessage(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send("others", "1", "waits", LATER);
        await().untilAsserted(() -> assertThat(accepted()).isOne());

        for (int doublings = 0; doublings < 4; doublings++) {
            this.shop.makeOverdue();
            await().untilAsserted(() -> assertThat(next()).isGreaterThan(1));
            long interval = Duration.ofMinutes(2).toMillis() << doublings;
            assertThat(next() - System.currentTimeMillis()).isBetween(interval / 4 * 3, interval);
        }
    }

    /**
     * P2: Redis may have a later due time because the database has lost a reschedule. An
     * operator decides that it is Redis that has lost one.
     */
    @EachDatabase
    void aMessageThatIsDueLaterInRedisIsMovedOnlyOnDemand(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send(ORDERS, "1", "waits", LATER);
        await().untilAsserted(() -> assertThat(accepted()).isOne());
        StoredMessage waiting = this.shop.queue().find(ORDERS, "1").orElseThrow();

        this.shop.makeOverdue();
        await().untilAsserted(() -> assertThat(this.shop.swept()).isPositive());
        assertThat(this.shop.queue().find(ORDERS, "1")).contains(waiting);

        this.shop.journal().restore(RestorePlan.all());
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("waits"));
    }

    /**
     * P1: a restore leaves out a message that follows another one. It is restored when
     * that has ended, and not only when it is overdue.
     */
    @EachDatabase
    void aMessageThatFollowsAnotherIsRestoredAfterIt(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        DelayQueueTemplate queue = this.shop.queue();
        queue.send("others", "1", "first", Duration.ZERO);
        assertThat(queue.receive("others", Duration.ofSeconds(10))).isPresent();
        DelayedMessage second = DelayedMessage.builder("others", "second")
            .id("1")
            .delay(LATER)
            .onDuplicate(OnDuplicate.REPLACE)
            .build();
        assertThat(queue.send(second).outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        await().untilAsserted(() -> assertThat(accepted()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(calls("others")).isGreaterThan(1));

        redis.commands().flushall();

        String soon = "SELECT COUNT(*) FROM delayqueue_journal WHERE claimed_until < due_millis";
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(number(soon)).isOne());
        await().atMost(PATIENCE)
            .until(() -> queue.receive("others", Duration.ZERO).map(ReceivedMessage::acknowledge).orElse(false));
        await().atMost(PATIENCE).until(() -> queue.find("others", "1").isPresent());
        assertThat(queue.find("others", "1").orElseThrow().payload()).isEqualTo("\"second\"");
    }

    private long next() {
        return number("SELECT claimed_until FROM delayqueue_journal");
    }

    /** P6: the sweep does not restore a message whose cancel another node is to apply. */
    @EachDatabase
    void aMessageWithAPendingCancelIsNotRestored(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send("others", "cancelled", "lost", LATER);
        this.shop.queue().send("others", "wanted", "lost", LATER);
        await().untilAsserted(() -> assertThat(accepted()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(calls("others")).isGreaterThan(1));
        this.shop.jdbc().sql("""
                INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, recorded_at,
                  accepted, checks, claimed_by, claimed_until)
                SELECT namespace, queue_name, message_id, 'C', FALSE, 0, FALSE, 0, 'another', :until
                FROM delayqueue_journal WHERE message_id = 'cancelled'""").param("until", CLAIMED_UNTIL).update();
        loseMessages("others");

        this.shop.makeOverdue();

        await().untilAsserted(() -> assertThat(this.shop.queue().find("others", "wanted")).isPresent());
        await().untilAsserted(() -> assertThat(
                number("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE AND claimed_until > 1"))
            .isEqualTo(2));
        assertThat(this.shop.queue().find("others", "cancelled")).isEmpty();
        assertThat(number("SELECT checks FROM delayqueue_journal WHERE operation = 'S' AND message_id = 'cancelled'"))
            .isZero();
    }

    /**
     * P1: rows that this version cannot read, as those of a later one, keep the sweep
     * from no other row. Each is logged once.
     */
    @EachDatabase
    void rowsThatCannotBeReadDoNotStopTheSweep(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        List<DelayedMessage> messages = IntStream.range(0, 120)
            .mapToObj((i) -> DelayedMessage.builder("others", "unreadable").id("u" + i).delay(LATER).build())
            .toList();
        this.shop.queue().sendAll(messages);
        this.shop.queue().send("others", "readable", "lost", LATER);
        await().untilAsserted(() -> assertThat(accepted()).isEqualTo(121));
        await().untilAsserted(() -> assertThat(ShopApplication.calls(redis, "others")).isGreaterThan(1));
        ShopApplication.lose(redis, "others", "readable");
        try (LogCapture log = new LogCapture()) {
            this.shop.jdbc()
                .sql("UPDATE delayqueue_journal SET operation = 'X', claimed_until = 1 WHERE message_id <> 'readable'")
                .update();
            this.shop.jdbc()
                .sql("UPDATE delayqueue_journal SET claimed_until = 2 WHERE message_id = 'readable'")
                .update();

            await().untilAsserted(() -> assertThat(this.shop.queue().find("others", "readable")).isPresent());
            this.shop.jdbc().sql("UPDATE delayqueue_journal SET claimed_until = 1").update();
            await().untilAsserted(
                    () -> assertThat(number("SELECT MIN(claimed_until) FROM delayqueue_journal")).isGreaterThan(1));

            assertThat(log.lines(Level.ERROR)).filteredOn((line) -> line.contains("cannot be read")).hasSize(120);
        }
    }

    /** The sweep of a large backlog leaves most of Redis' time to the application. */
    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    @Tag("matrix")
    void atMostAThousandMessagesAreReadInASecond(boolean paused) {
        this.shop = ShopApplication.start(redis, ShopDatabase.H2.url());
        this.shop.queue().send("others", "waits", LATER);
        if (paused) {
            this.shop.queue().pause("others");
        }
        await().untilAsserted(() -> assertThat(accepted()).isOne());
        this.shop.reconciler().stop();
        this.shop.jdbc()
            .sql("""
                    INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                      due_relative, recorded_at, priority, envelope, accepted, checks, claimed_by, claimed_until)
                    SELECT namespace, queue_name, message_id || i.x, operation, on_duplicate, due_millis, FALSE, 0, priority,
                      envelope, TRUE, 0, claimed_by, 1 FROM delayqueue_journal, SYSTEM_RANGE(1, ?) i""")
            .param(ROWS)
            .update();

        this.shop.reconciler().start();

        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(checked()).isEqualTo(ROWS));
        List<Long> times = this.shop.jdbc()
            .sql("SELECT claimed_until FROM delayqueue_journal ORDER BY claimed_until")
            .query(Long.class)
            .list();
        assertThat(IntStream.range(0, ROWS - 100)).as("time for a hundred messages, in ms")
            .allMatch((i) -> times.get(i + 100) - times.get(i) >= 99);
    }

    /**
     * Removes what a node does not notice at once: all but its own count and the pause.
     */
    private static void loseMessages(String queue) {
        redis.commands()
            .keys("dq:{" + queue + "}:*")
            .stream()
            .filter((key) -> !key.endsWith(":journal") && !key.endsWith(":partitions"))
            .forEach((key) -> redis.commands().del(key));
    }

    /** Returns how often a node has read the changes of a queue. */
    private static long calls(String queue) {
        String journal = redis.commands().get("dq:{" + queue + "}:journal");
        return (journal != null) ? Long.parseLong(journal.split(" ")[1]) : 0;
    }

    private long accepted() {
        return number("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE");
    }

    private long checked() {
        return number("SELECT COUNT(*) FROM delayqueue_journal WHERE checks > 0");
    }

    private long checks(String queue) {
        return number("SELECT MAX(checks) FROM delayqueue_journal WHERE queue_name = '" + queue + "'");
    }

    private long number(String sql) {
        return this.shop.jdbc().sql(sql).query(Long.class).single();
    }

}
