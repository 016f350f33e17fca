package io.delayqueue.sample;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.springframework.stereotype.Repository;

/** All orders, in memory. A real service has a database here. */
@Repository
class Orders {

    private final AtomicLong numbers = new AtomicLong();

    private final Map<String, Numbered> orders = new ConcurrentHashMap<>();

    void add(Order order) {
        this.orders.put(order.id(), new Numbered(this.numbers.incrementAndGet(), order));
    }

    void remove(Order order) {
        this.orders.remove(order.id());
    }

    /** Absent if the order was placed before the application was last started. */
    Optional<Order> find(String id) {
        return Optional.ofNullable(this.orders.get(id)).map(Numbered::order);
    }

    /** The latest orders, the newest first. */
    List<OrderView> latest(int limit) {
        return this.orders.values()
            .stream()
            .sorted(Comparator.comparingLong(Numbered::number).reversed())
            .limit(limit)
            .map((numbered) -> numbered.order().view())
            .toList();
    }

    private record Numbered(long number, Order order) {
    }

}
