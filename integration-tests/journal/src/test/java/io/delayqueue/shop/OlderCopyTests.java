package io.delayqueue.shop;

import java.time.Duration;
import java.util.List;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests a ledger whose Redis has become an older copy of itself, as after a failover to a
 * replica that lagged, or a restart from a snapshot.
 */
@Tag("server")
class OlderCopyTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private RedisServer redis;

    private RedisServer replica;

    private ShopApplication shop;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stop() {
        this.shop.close();
        this.redis.close();
        if (this.replica != null) {
            this.replica.close();
        }
    }

    /**
     * Stops the application, and starts it with another server that has a copy. The only
     * trace of the loss is that the server is another one.
     */
    private void failOver(RedisCopy copy, String url, String... settings) {
        this.shop.close();
        this.replica = RedisServer.start(RedisBinary.preferred());
        copy.restore(this.replica);
        this.shop = ShopApplication.start(this.replica, url, settings);
    }

    /**
     * P6, P9: what had ended or was cancelled is removed before it is handled again.
     */
    @EachDatabase
    void whatHasEndedIsNotHandledAgain(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(this.redis, url);
        for (String id : List.of("handled", "cancelled", "replaced", "waits")) {
            this.shop.queue().send(ORDERS, id, id, LATER);
        }
        await().untilAsserted(() -> assertThat(this.redis.commands().exists("dq:{orders}:journal")).isOne());
        RedisCopy copy = RedisCopy.of(this.redis);
        this.shop.queue().reschedule(ORDERS, "handled", Duration.ZERO);
        assertThat(this.shop.queue().cancel(ORDERS, "cancelled")).isEqualTo(CancelResult.CANCELLED);
        assertThat(replace("replaced").outcome()).isEqualTo(SendOutcome.REPLACED);
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactlyInAnyOrder("handled", "new"));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isOne());

        failOver(copy, url);

        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(this.shop.queue().statistics(ORDERS).scheduled()).isOne());
        assertThat(this.shop.queue().find(ORDERS, "waits")).isPresent();
        assertThat(this.shop.shop().handled).isEmpty();
        this.shop.close(); // writes the transitions of this node
        this.shop = ShopApplication.start(this.replica, url);
        assertThat(transitions("handled")).containsExactly(Event.SENT, Event.RESCHEDULED, Event.CLAIMED, Event.HANDLED);
        assertThat(transitions("cancelled")).containsExactly(Event.SENT, Event.CANCELLED);
    }

    /** P1: a send is not lost because an older copy has another message of its id. */
    @EachDatabase
    @Tag("matrix")
    void aSendIsNotKeptOutByWhatWasCancelled(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().send(ORDERS, "1", "old", LATER);
        await().untilAsserted(() -> assertThat(this.redis.commands().exists("dq:{orders}:journal")).isOne());
        RedisCopy copy = RedisCopy.of(this.redis);
        this.shop.queue().cancel(ORDERS, "1");
        long calls = calls();
        await().until(() -> calls() > calls + 1); // which the copy does not count
        this.shop.reconciler().stop();
        copy.restore(this.redis);

        assertThat(this.shop.queue().send(ORDERS, "1", "new", LATER).outcome()).isEqualTo(SendOutcome.KEPT);
        this.shop.reconciler().start();

        await().atMost(PATIENCE)
            .untilAsserted(() -> assertThat(this.shop.queue().find(ORDERS, "1").map(StoredMessage::payload))
                .contains("\"new\""));
        assertThat(this.shop.rows()).isOne();
    }

    private List<Event> transitions(String id) {
        return this.shop.context()
            .getBean(MessageHistory.class)
            .of(ORDERS, id)
            .stream()
            .map(HistoryEntry::event)
            .toList();
    }

    private long calls() {
        return Long.parseLong(this.redis.commands().get("dq:{orders}:journal").split(" ")[1]);
    }

    private SendResult replace(String id) {
        return this.shop.queue()
            .send(DelayedMessage.builder(ORDERS, "new").id(id).onDuplicate(OnDuplicate.REPLACE).build());
    }

}
