package io.delayqueue.sample;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;

import io.delayqueue.sample.ShopEvent.Kind;
import io.delayqueue.test.DelayQueueTester;
import io.delayqueue.test.DeliverTwice;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/** Lets half an hour pass in a few milliseconds. */
@DelayQueueTest(listeners = { OrderListener.class, ReminderListener.class, ReceiptListener.class },
        properties = { "sample.payment-window=30m", "delayqueue.queues.receipt.backoff.initial=1m" })
@EnableConfigurationProperties(SampleProperties.class)
@Import({ OrderService.class, InMemoryOrders.class, EventLog.class, MailServer.class, NoTransactions.class })
class OrderTimeTests {

    @Autowired
    private OrderService service;

    @Autowired
    private EventLog events;

    @Autowired
    private DelayQueueTester tester;

    @Test
    @DeliverTwice
    void unpaidOrderIsRemindedOfAndThenCancelledOnce() {
        String id = place(Simulation.NONE);
        assertThat(this.tester.queue(Queues.ORDER_TIMEOUT)).hasScheduled(id)
            .dueIn(Duration.ofMinutes(30))
            .withPayload(new OrderTimeout(id));

        assertThat(this.tester.advance(Duration.ofMinutes(15))).hasSucceeded(1).hasNoOthers();
        assertThat(this.tester.advance(Duration.ofMinutes(15))).hasSucceeded(1).hasNoOthers();

        assertThat(kinds(id)).containsOnlyOnce(Kind.CANCELLED).startsWith(Kind.PLACED, Kind.REMINDED);
        assertThat(this.tester.queue(Queues.ORDER_TIMEOUT)).isEmpty();
    }

    @Test
    void paidOrderIsNotCancelled() {
        String id = place(Simulation.NONE);
        this.tester.advance(Duration.ofMinutes(29));

        this.service.pay(id);
        this.tester.advance(Duration.ofMinutes(1));

        assertThat(kinds(id)).containsExactly(Kind.PLACED, Kind.REMINDED, Kind.PAID, Kind.RECEIPT_SENT);
    }

    @Test
    void extendedOrderIsCancelledHalfAnHourLater() {
        String id = place(Simulation.NONE);
        this.tester.advance(Duration.ofMinutes(29));

        this.service.extend(id);

        assertThat(this.tester.queue(Queues.ORDER_TIMEOUT)).hasScheduled(id).dueIn(Duration.ofMinutes(30));
    }

    @Test
    void receiptThatCannotBeMailedIsADeadLetterAfterFourAttempts() {
        String id = place(Simulation.POISON_RECEIPT);
        this.service.pay(id);

        assertThat(this.tester.advance(Duration.ofMinutes(8))).hasRetried(3).hasDead(1).hasNoOthers();

        assertThat(this.tester.queue(Queues.RECEIPT)).hasDeadLetter(id)
            .causedBy(IllegalStateException.class)
            .withFailures(4);
    }

    private String place(Simulation simulation) {
        return this.service.place(new PlaceOrder("Tea", new BigDecimal("4.2"), simulation)).id();
    }

    private List<Kind> kinds(String id) {
        return this.events.after(0)
            .stream()
            .filter((event) -> id.equals(event.orderId()))
            .map(ShopEvent::kind)
            .toList();
    }

}
