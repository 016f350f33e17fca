package io.delayqueue.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.RescheduleResult;

import org.springframework.stereotype.Service;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Places orders and takes payments. The id of an order is also the id of its messages, so
 * that they can be cancelled and rescheduled by it.
 */
@Service
class OrderService {

    private final DelayQueueOperations delayQueue;

    private final Orders orders;

    private final EventLog events;

    private final SampleProperties properties;

    private final TransactionOperations transactions;

    OrderService(DelayQueueOperations delayQueue, Orders orders, EventLog events, SampleProperties properties,
            TransactionOperations transactions) {
        this.delayQueue = delayQueue;
        this.orders = orders;
        this.events = events;
        this.properties = properties;
        this.transactions = transactions;
    }

    OrderView place(PlaceOrder request) {
        Duration window = this.properties.paymentWindow();
        Order order = new Order(UUID.randomUUID().toString().substring(0, 8), request.validItem(),
                request.validAmount(), request.simulation(), window);
        this.transactions.executeWithoutResult((status) -> {
            this.orders.add(order);
            try {
                this.delayQueue.sendAll(List.of(reminder(order, window.dividedBy(2)), timeout(order, window)));
            }
            catch (DelayQueueException ex) {
                // Without a journal one of the two may be stored nevertheless; its
                // handler finds no order then.
                this.orders.remove(order.id());
                throw ex;
            }
        });
        this.events.add(ShopEvent.Kind.PLACED, order.id(),
                "%s, to be paid within %d s".formatted(order.item(), window.toSeconds()));
        return order.view();
    }

    Payment pay(String id) {
        Payment payment = Objects.requireNonNull(this.transactions.execute((status) -> closeAsPaid(find(id))));
        this.events.add(ShopEvent.Kind.PAID, id, switch (payment.timeout()) {
            case CANCELLED -> "timeout cancelled";
            case LEASED -> "too late to cancel the timeout, which is being handled and finds the order paid";
            case NOT_FOUND -> "there was no timeout to cancel";
            case DEFERRED, RECORDED -> "timeout is cancelled after the commit";
        });
        return payment;
    }

    private Payment closeAsPaid(Order order) {
        String id = order.id();
        // The timeout may be handled at this very moment. The order's state decides
        // who was first, here as in the handler. Only then the messages are cancelled:
        // after a crash in between, the timeout still comes and finds the order paid.
        if (!this.orders.close(id, Order.State.PAID)) {
            throw new ConflictException("Too late: order '%s' is %s".formatted(id, find(id).state()));
        }
        CancelResult timeout = this.delayQueue.cancel(Queues.ORDER_TIMEOUT, id);
        CancelResult reminder = this.delayQueue.cancel(Queues.ORDER_REMINDER, id);
        this.delayQueue.send(receipt(order));
        return new Payment(order.with(Order.State.PAID).view(), timeout, reminder);
    }

    OrderView extend(String id) {
        Order order = find(id);
        Duration window = this.properties.paymentWindow();
        RescheduleResult timeout = this.delayQueue.reschedule(Queues.ORDER_TIMEOUT, id, window);
        // RECORDED: the journal has it, and Redis has not answered in time.
        if (timeout != RescheduleResult.RESCHEDULED && timeout != RescheduleResult.RECORDED) {
            throw new ConflictException(
                    "Too late: order '%s' is %s, its timeout %s".formatted(id, order.state(), timeout));
        }
        // Not found if the customer has been reminded already, and once is enough.
        this.delayQueue.reschedule(Queues.ORDER_REMINDER, id, window.dividedBy(2));
        this.orders.extend(id, Instant.now().plus(window));
        this.events.add(ShopEvent.Kind.EXTENDED, id, "another %d s to pay".formatted(window.toSeconds()));
        return find(id).view();
    }

    private Order find(String id) {
        return this.orders.find(id).orElseThrow(() -> new NotFoundException("There is no order '%s'".formatted(id)));
    }

    private static DelayedMessage reminder(Order order, Duration delay) {
        return DelayedMessage.builder(Queues.ORDER_REMINDER, new OrderReminder(order.id()))
            .id(order.id())
            .delay(delay)
            .build();
    }

    private static DelayedMessage timeout(Order order, Duration delay) {
        return DelayedMessage.builder(Queues.ORDER_TIMEOUT, new OrderTimeout(order.id()))
            .id(order.id())
            .delay(delay)
            .build();
    }

    private DelayedMessage receipt(Order order) {
        return DelayedMessage.builder(Queues.RECEIPT, order.receipt())
            .id(order.id())
            .delay(this.properties.receiptDelay())
            .build();
    }

}
