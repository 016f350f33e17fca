package io.delayqueue.sample;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Mails receipts. A handler that throws is tried again, with the waits and as often as
 * {@code delayqueue.queues.receipt} in {@code application.yml} says; then its message is
 * a dead letter. In the profile {@code kafka} there is a {@link ReceiptConsumer} instead.
 */
@Component
@Profile("!kafka")
class ReceiptListener {

    private final MailServer mailServer;

    private final EventLog events;

    ReceiptListener(MailServer mailServer, EventLog events) {
        this.mailServer = mailServer;
        this.events = events;
    }

    @DelayedListener(Queues.RECEIPT)
    void mail(Receipt receipt, Delivery delivery) {
        try {
            this.mailServer.mail(receipt, delivery.attempt());
        }
        catch (IllegalStateException ex) {
            this.events.add(ShopEvent.Kind.RECEIPT_FAILED, receipt.orderId(),
                    "attempt %d".formatted(delivery.attempt()), delivery.lateness());
            throw ex;
        }
        this.events.add(ShopEvent.Kind.RECEIPT_SENT, receipt.orderId(), "attempt %d".formatted(delivery.attempt()),
                delivery.lateness());
    }

}
