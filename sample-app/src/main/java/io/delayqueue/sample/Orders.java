package io.delayqueue.sample;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Stores all orders. An order is paid or cancelled, never both: the first change of its
 * state wins.
 * <p>
 * <strong>Threads.</strong> Web requests and message handlers use it at the same time.
 */
interface Orders {

    void add(Order order);

    void remove(String id);

    /** Returns an order; empty if it is not known. */
    Optional<Order> find(String id);

    /**
     * Changes the state of an order that is open.
     * @return {@code false} if it was paid or cancelled before, or is not known
     */
    boolean close(String id, Order.State state);

    /** Shows another end of the time to pay. */
    void extend(String id, Instant payUntil);

    /** Returns the latest orders, the newest first. */
    List<OrderView> latest(int limit);

}
