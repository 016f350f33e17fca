package io.delayqueue.shop;

import java.time.Duration;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.LedgerRestoredEvent;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests a ledger whose claims are held back while it is restored. */
@Tag("server")
class RestorePauseTests {

    private static final String STEM = "dq:{" + ORDERS + "}:";

    private static final String NOT_PAUSED = "\\d+\\|1j";

    private static final String PAUSED_FOR_A_TIME = "\\d+\\|1p\\d+j";

    private static final String PAUSED = "\\d+\\|1pj";

    private static RedisServer redis;

    private ShopApplication shop;

    private StatementGate gate;

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
        if (this.shop != null) {
            this.gate.open();
            this.shop.close();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database, String pause) {
        this.shop = ShopApplication.start(List.of(Shop.class, StatementGate.class), redis.port(), database.url(),
                "delayqueue.listener.concurrency=1", "delayqueue.journal.restore-pause=" + pause);
        this.gate = this.shop.context().getBean(StatementGate.class);
    }

    /**
     * P3: a message of a higher priority is handled first, also if Redis has lost it, and
     * the other was sent after that.
     */
    @EachDatabase
    void prioritiesKeepTheirOrderWhileAQueueIsRestored(ShopDatabase database) {
        start(database, "10m");
        loseTheFirst();
        await().untilAsserted(() -> assertThat(layout()).matches(PAUSED_FOR_A_TIME));

        sendTheSecond();
        assertThat(this.shop.shop().handled).isEmpty();
        JournalStatus status = this.shop.context().getBean(JournalFactory.class).status();
        await().untilAsserted(() -> assertThat(status.restoring()).containsExactly(ORDERS));
        assertThat(this.shop.shop().restored).isEmpty();
        this.gate.open();

        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("first", "second"));
        await().untilAsserted(() -> assertThat(this.shop.shop().restored)
            .containsExactly(new LedgerRestoredEvent(List.of(ORDERS), 1)));
        await().untilAsserted(() -> assertThat(status.restoring()).isEmpty());
        await().untilAsserted(() -> assertThat(layout()).matches(NOT_PAUSED));
    }

    /** P3: messages are handled after a while although the restore does not succeed. */
    @EachDatabase
    void thePauseEndsByItself(ShopDatabase database) {
        start(database, "1s");
        loseTheFirst();
        await().untilAsserted(() -> assertThat(layout()).matches(PAUSED_FOR_A_TIME));

        sendTheSecond();

        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("second"));
    }

    /** A restore does not end the pause of an operator. */
    @EachDatabase
    void thePauseOfAnOperatorStays(ShopDatabase database) {
        start(database, "10m");
        this.shop.context().getBean(DelayQueueOperations.class).pause(ORDERS);
        loseTheFirst();
        this.gate.open();
        await().untilAsserted(() -> assertThat(this.shop.queue().find(ORDERS, "1")).isPresent());
        long calls = calls();
        await().untilAsserted(() -> assertThat(calls()).isGreaterThan(calls + 1));

        assertThat(layout()).matches(PAUSED);
        assertThat(this.shop.shop().handled).isEmpty();
        this.shop.context().getBean(DelayQueueOperations.class).resume(ORDERS);
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("first"));
    }

    /** Redis loses a message that has become due, and its restore has to wait. */
    private void loseTheFirst() {
        this.shop.queue().send(message("first", 9).id("1").delay(Duration.ofHours(1)).build());
        await().untilAsserted(() -> assertThat(redis.commands().exists(STEM + "journal")).isOne());
        await().untilAsserted(() -> assertThat(calls()).isGreaterThan(1));
        await().untilAsserted(() -> assertThat(layout()).contains("j"));
        await().untilAsserted(() -> assertThat(
                this.shop.jdbc().sql("UPDATE delayqueue_journal SET due_millis = 1 WHERE accepted = TRUE").update())
            .isOne());
        this.gate.close(StatementGate.RESTORE);
        redis.commands().flushall();
    }

    private void sendTheSecond() {
        assertThat(this.shop.queue().send(message("second", 0).build()).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    private static DelayedMessage.Builder message(String content, int priority) {
        return DelayedMessage.builder(ORDERS, content).priority(priority);
    }

    private static String layout() {
        String layout = redis.commands().get(STEM + "partitions");
        return (layout != null) ? layout : "";
    }

    private static long calls() {
        String journal = redis.commands().get(STEM + "journal");
        return (journal != null) ? Long.parseLong(journal.split(" ")[1]) : 0;
    }

}
