package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import org.jspecify.annotations.Nullable;

/** Records what it handles, and behaves as a test says. */
class TestListener {

    static final String ORDERS = "orders";

    static final String REMINDERS = "reminders";

    static final String SERIAL = "serial";

    static final String ASYNC = "async";

    /** Its messages become dead letters when they expire. */
    static final String EXPIRING = "expiring";

    final List<Call> calls = new CopyOnWriteArrayList<>();

    private final Map<String, Behaviour> behaviours = new ConcurrentHashMap<>();

    volatile CompletableFuture<?> future = CompletableFuture.completedFuture(null);

    @DelayedListener(queues = ORDERS, backoff = @Backoff(jitter = "0.5"))
    void order(Order order, Delivery delivery) throws Exception {
        handle(order, delivery);
    }

    @DelayedListener(queues = REMINDERS, lease = "10s", timeout = "1m", maxAttempts = "2",
            noRetryFor = IllegalArgumentException.class)
    void reminder(Order order, Delivery delivery) throws Exception {
        handle(order, delivery);
    }

    @DelayedListener(id = "serial", queues = SERIAL, concurrency = "1")
    void serial(Order order, Delivery delivery) throws Exception {
        handle(order, delivery);
    }

    @DelayedListener(queues = ASYNC, timeout = "1m")
    CompletableFuture<?> async(Order order, Delivery delivery) throws Exception {
        handle(order, delivery);
        return this.future;
    }

    @DelayedListener(EXPIRING)
    void expiring(Order order, Delivery delivery) throws Exception {
        handle(order, delivery);
    }

    private void handle(Order order, Delivery delivery) throws Exception {
        this.calls.add(new Call(delivery.queue(), delivery.id(), delivery.attempt(), delivery.dueAt(),
                delivery.lateness(), delivery.isLeased()));
        Behaviour behaviour = this.behaviours.get(delivery.id());
        if (behaviour != null) {
            behaviour.handle(order, delivery);
        }
    }

    /** Sets what the handlers of a message do. */
    void on(String id, Behaviour behaviour) {
        this.behaviours.put(id, behaviour);
    }

    /** Returns the ids of the messages in the order of their handlers. */
    List<String> ids() {
        return this.calls.stream().map(Call::id).toList();
    }

    void reset() {
        this.calls.clear();
        this.behaviours.clear();
        this.future = CompletableFuture.completedFuture(null);
    }

    /** Handles a message. */
    @FunctionalInterface
    interface Behaviour {

        void handle(Order order, Delivery delivery) throws Exception;

    }

    /** Holds a payload. */
    record Order(long number, @Nullable String note) {

        static Order of(long number) {
            return new Order(number, null);
        }

    }

    /** Holds what a handler saw when it was called. */
    record Call(String queue, String id, int attempt, Instant dueAt, Duration lateness, boolean leased) {
    }

}
