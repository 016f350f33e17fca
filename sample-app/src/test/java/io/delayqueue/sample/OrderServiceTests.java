package io.delayqueue.sample;

import java.math.BigDecimal;
import java.time.Duration;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.StoreUnavailableException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.transaction.support.TransactionOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyCollection;
import static org.mockito.BDDMockito.given;

/**
 * Uses a fake queue for races and failures, which a real queue does not show on demand.
 */
@Tag("server")
class OrderServiceTests {

    private final DelayQueueOperations delayQueue = Mockito.mock(DelayQueueOperations.class);

    private final Orders orders = new InMemoryOrders();

    private final EventLog events = new EventLog();

    private final OrderService service = new OrderService(this.delayQueue, this.orders, this.events,
            new SampleProperties(Duration.ofSeconds(30), Duration.ZERO), TransactionOperations.withoutTransaction());

    @Test
    void paymentThatIsFirstWinsAgainstATimeoutThatIsBeingHandled() {
        String id = this.service.place(tea()).id();
        given(this.delayQueue.cancel(Queues.ORDER_TIMEOUT, id)).willReturn(CancelResult.LEASED);
        given(this.delayQueue.cancel(Queues.ORDER_REMINDER, id)).willReturn(CancelResult.NOT_FOUND);

        Payment payment = this.service.pay(id);
        boolean cancelled = this.orders.close(id, Order.State.CANCELLED);

        assertThat(payment.order().state()).isEqualTo(Order.State.PAID);
        assertThat(payment.timeout()).isEqualTo(CancelResult.LEASED);
        assertThat(cancelled).isFalse();
        assertThat(this.events.after(1)).extracting(ShopEvent::text)
            .containsExactly("too late to cancel the timeout, which is being handled and finds the order paid");
    }

    @Test
    void timeoutThatIsFirstWinsAndThePaymentIsRejected() {
        String id = this.service.place(tea()).id();
        this.orders.close(id, Order.State.CANCELLED);

        assertThatExceptionOfType(ConflictException.class).isThrownBy(() -> this.service.pay(id))
            .withMessage("Too late: order '%s' is CANCELLED", id);
        Mockito.verify(this.delayQueue, Mockito.never()).send(any(DelayedMessage.class));
    }

    @Test
    void orderIsNotPlacedIfItsMessagesAreNotStored() {
        given(this.delayQueue.sendAll(anyCollection()))
            .willThrow(new StoreUnavailableException("No answer", DelayQueueException.Effect.UNKNOWN, null));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.service.place(tea()));

        assertThat(this.orders.latest(1)).isEmpty();
        assertThat(this.events.after(0)).isEmpty();
    }

    private static PlaceOrder tea() {
        return new PlaceOrder("Tea", new BigDecimal("4.2"), null);
    }

}
