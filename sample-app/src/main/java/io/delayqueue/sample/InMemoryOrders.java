package io.delayqueue.sample;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Repository;

/** Stores orders in memory. A restart of the application loses them. */
@Repository
@Profile("!ledger")
class InMemoryOrders implements Orders {

    private final Map<String, Order> orders = new LinkedHashMap<>();

    @Override
    public synchronized void add(Order order) {
        this.orders.put(order.id(), order);
    }

    @Override
    public synchronized void remove(String id) {
        this.orders.remove(id);
    }

    @Override
    public synchronized Optional<Order> find(String id) {
        return Optional.ofNullable(this.orders.get(id));
    }

    @Override
    public synchronized boolean close(String id, Order.State state) {
        Order order = this.orders.get(id);
        if (order == null || order.state() != Order.State.OPEN) {
            return false;
        }
        this.orders.put(id, order.with(state));
        return true;
    }

    @Override
    public synchronized void extend(String id, Instant payUntil) {
        this.orders.computeIfPresent(id, (known, order) -> order.with(payUntil));
    }

    @Override
    public synchronized List<OrderView> latest(int limit) {
        List<Order> all = new ArrayList<>(this.orders.values());
        List<OrderView> latest = new ArrayList<>();
        for (int i = all.size() - 1; i >= 0 && latest.size() < limit; i--) {
            latest.add(all.get(i).view());
        }
        return latest;
    }

}
