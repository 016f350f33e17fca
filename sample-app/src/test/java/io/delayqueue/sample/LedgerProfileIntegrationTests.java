package io.delayqueue.sample;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.sample.ShopEvent.Kind;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the profile that keeps orders and messages in one database: an order and its
 * messages are stored together or not at all, and Redis is restored when it has lost
 * everything.
 */
@ExtendWith(EmbeddedRedisRequired.class)
@ActiveProfiles("ledger")
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = { "sample.payment-window=4s", "sample.receipt-delay=10ms" })
@Tag("server")
class LedgerProfileIntegrationTests {

    @LocalServerPort
    private int port;

    @Autowired
    private OrderService service;

    @Autowired
    private Orders orders;

    @Autowired
    private EventLog events;

    @Autowired
    private DelayQueueOperations delayQueue;

    @Autowired
    private StringRedisTemplate redis;

    @Autowired
    private TransactionTemplate transaction;

    @Autowired
    private JdbcClient jdbc;

    @DynamicPropertySource
    static void newDatabase(DynamicPropertyRegistry registry) {
        String url = "jdbc:h2:file:./target/ledger-test/%s;DB_CLOSE_ON_EXIT=FALSE".formatted(UUID.randomUUID());
        registry.add("spring.datasource.url", () -> url);
    }

    /** P1: no send is lost when Redis loses everything, without any intervention. */
    @Test
    void messagesOfAnOrderAreHandledAlthoughRedisHasLostThem() {
        pauseOrders();
        String id = place().id();
        await().until(() -> waits(id));
        resumeOrders();

        this.redis.opsForValue().set("another key", "is not restored");
        loseRedis();

        assertThat(this.redis.hasKey("another key")).isFalse();
        await().until(() -> kinds(id).contains(Kind.CANCELLED));
        assertThat(kinds(id)).containsExactly(Kind.PLACED, Kind.REMINDED, Kind.CANCELLED);
        assertThat(this.orders.find(id)).map(Order::state).contains(Order.State.CANCELLED);
        assertThat(
                this.jdbc.sql("SELECT COUNT(*) FROM shop_reminder WHERE order_id = ?").param(id).query().singleValue())
            .isEqualTo(1L);
        assertThat(this.events.after(0)).filteredOn((event) -> id.equals(event.orderId()))
            .allSatisfy((event) -> assertThat((event.latenessMillis() != null) ? event.latenessMillis() : 0)
                .isNotNegative());
    }

    /** P6: a restore brings nothing back that was cancelled. */
    @Test
    void orderThatIsPaidAfterTheLossIsNotCancelled() {
        pauseOrders();
        String paid = place().id();
        await().until(() -> waits(paid));

        loseRedis();
        Payment payment = this.service.pay(paid);
        resumeOrders();
        String later = place().id();

        await().until(() -> kinds(later).contains(Kind.CANCELLED));
        await().until(() -> kinds(paid).contains(Kind.RECEIPT_SENT));
        assertThat(payment.timeout()).isEqualTo(CancelResult.DEFERRED);
        assertThat(kinds(paid)).containsExactly(Kind.PLACED, Kind.PAID, Kind.RECEIPT_SENT);
        assertThat(this.orders.find(paid)).map(Order::state).contains(Order.State.PAID);
    }

    /** P1: a message is stored if the transaction of its order commits, and only then. */
    @Test
    void orderThatIsRolledBackHasNoMessages() {
        String id = this.transaction.execute((status) -> {
            status.setRollbackOnly();
            return place().id();
        });

        assertThat(id).isNotNull();
        assertThat(this.orders.find(id)).isEmpty();
        assertThat(this.jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal WHERE message_id = ?")
            .param(id)
            .query()
            .singleValue()).isEqualTo(0L);
        assertThat(waits(id)).isFalse();
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(60));
    }

    /** Pauses the queues of open orders, so that a stall of the machine ends none. */
    private void pauseOrders() {
        this.delayQueue.pause(Queues.ORDER_REMINDER);
        this.delayQueue.pause(Queues.ORDER_TIMEOUT);
    }

    private void resumeOrders() {
        this.delayQueue.resume(Queues.ORDER_REMINDER);
        this.delayQueue.resume(Queues.ORDER_TIMEOUT);
    }

    private OrderView place() {
        return this.service.place(new PlaceOrder("Kettle", new BigDecimal("42.5"), null));
    }

    private boolean waits(String id) {
        return this.delayQueue.find(Queues.ORDER_TIMEOUT, id).isPresent();
    }

    private void loseRedis() {
        RestClient.create("http://127.0.0.1:" + this.port)
            .delete()
            .uri("/redis")
            .accept(MediaType.APPLICATION_JSON)
            .retrieve()
            .toBodilessEntity();
    }

    private List<Kind> kinds(String orderId) {
        return this.events.after(0)
            .stream()
            .filter((event) -> orderId.equals(event.orderId()))
            .map(ShopEvent::kind)
            .toList();
    }

}
