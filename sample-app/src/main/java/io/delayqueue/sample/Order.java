package io.delayqueue.sample;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An order. It is paid or cancelled, never both: the first change of its state wins.
 * <p>
 * <strong>Threads.</strong> Web requests and message handlers use it at the same time.
 */
final class Order {

    private final String id;

    private final String item;

    private final BigDecimal amount;

    private final Simulation simulate;

    private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

    private volatile Countdown countdown;

    Order(String id, String item, BigDecimal amount, Simulation simulate, Duration paymentWindow) {
        this.id = id;
        this.item = item;
        this.amount = amount;
        this.simulate = simulate;
        this.countdown = Countdown.of(paymentWindow);
    }

    /**
     * Marks the order as paid.
     * @return {@code false} if it was paid or cancelled before
     */
    boolean pay() {
        return this.state.compareAndSet(State.OPEN, State.PAID);
    }

    /**
     * Marks the order as cancelled.
     * @return {@code false} if it was paid or cancelled before
     */
    boolean cancel() {
        return this.state.compareAndSet(State.OPEN, State.CANCELLED);
    }

    /** Shows this much time to pay from now on. The due time of the message decides. */
    void showTimeLeft(Duration left) {
        this.countdown = Countdown.of(left);
    }

    Receipt receipt() {
        return new Receipt(this.id, this.item, this.amount, this.simulate);
    }

    OrderView view() {
        State now = this.state.get();
        long left = (now == State.OPEN) ? this.countdown.left().toMillis() : 0;
        return new OrderView(this.id, this.item, this.amount, now, left);
    }

    String id() {
        return this.id;
    }

    String item() {
        return this.item;
    }

    State state() {
        return this.state.get();
    }

    /** Where an order is in its life. */
    enum State {

        OPEN, PAID, CANCELLED

    }

    /** Time that is left, by a clock that is never set. */
    private record Countdown(Duration length, long startNanos) {

        static Countdown of(Duration length) {
            return new Countdown(length, System.nanoTime());
        }

        Duration left() {
            Duration left = this.length.minusNanos(System.nanoTime() - this.startNanos);
            return left.isNegative() ? Duration.ZERO : left;
        }

    }

}
