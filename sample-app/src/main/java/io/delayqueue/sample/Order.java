package io.delayqueue.sample;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;

/**
 * An order.
 *
 * @param id identifies the order and its messages
 * @param item what is ordered
 * @param amount the price
 * @param simulate what shall go wrong
 * @param state where the order is in its life
 * @param payUntil when the time to pay ends, to be shown. The due time of the message
 * decides.
 */
record Order(String id, String item, BigDecimal amount, Simulation simulate, State state, Instant payUntil) {

    /** Creates an order that is open. */
    Order(String id, String item, BigDecimal amount, Simulation simulate, Duration paymentWindow) {
        this(id, item, amount, simulate, State.OPEN, Instant.now().plus(paymentWindow));
    }

    Order with(State changed) {
        return new Order(this.id, this.item, this.amount, this.simulate, changed, this.payUntil);
    }

    Order with(Instant changed) {
        return new Order(this.id, this.item, this.amount, this.simulate, this.state, changed);
    }

    Receipt receipt() {
        return new Receipt(this.id, this.item, this.amount, this.simulate);
    }

    OrderView view() {
        long left = (this.state == State.OPEN) ? Duration.between(Instant.now(), this.payUntil).toMillis() : 0;
        return new OrderView(this.id, this.item, this.amount, this.state, Math.max(0, left));
    }

    /** Where an order is in its life. */
    enum State {

        OPEN, PAID, CANCELLED

    }

}
