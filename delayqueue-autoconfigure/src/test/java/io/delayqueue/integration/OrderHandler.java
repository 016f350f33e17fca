package io.delayqueue.integration;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.event.EventListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.messaging.handler.annotation.Headers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handles orders as a test tells it to, and remembers what it was given. Threads: safe.
 */
class OrderHandler {

    static final String LISTENER = "orders";

    /** The queues it listens to unless told otherwise. */
    static final String QUEUE = "orders";

    private final BlockingQueue<Handled> started = new LinkedBlockingQueue<>();

    private final List<DeadLetterEvent> deaths = new CopyOnWriteArrayList<>();

    private volatile Behaviour behaviour = (order, delivery) -> {
    };

    @Autowired
    private @Nullable RedisConnectionFactory connections;

    @DelayedListener(id = LISTENER, queues = "${test.queues:" + QUEUE + "}")
    void handle(Order order, Delivery delivery, @Headers Map<String, Object> headers) throws Exception {
        Instant at = storeTime();
        this.started.add(new Handled(order, delivery, Map.copyOf(headers), at));
        this.behaviour.handle(order, delivery);
    }

    @EventListener
    void died(DeadLetterEvent event) {
        this.deaths.add(event);
    }

    private @Nullable Instant storeTime() {
        if (this.connections == null) {
            return null;
        }
        try (RedisConnection connection = this.connections.getConnection()) {
            Long micros = connection.serverCommands().time(TimeUnit.MICROSECONDS);
            return Instant.EPOCH.plusNanos(micros * 1000);
        }
        catch (RuntimeException ex) {
            return null; // The server is away, as some tests want it.
        }
    }

    void does(Behaviour behaviour) {
        this.behaviour = behaviour;
    }

    /** The next handling, which may have to be waited for. */
    Handled next() throws InterruptedException {
        Handled next = this.started.poll(Applications.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(next).as("the next message handled").isNotNull();
        return next;
    }

    /** What was handled since the last call of {@link #next()}. */
    List<Handled> rest() {
        return List.copyOf(this.started);
    }

    List<DeadLetterEvent> deaths() {
        return List.copyOf(this.deaths);
    }

    /** What a handler does. */
    @FunctionalInterface
    interface Behaviour {

        void handle(Order order, Delivery delivery) throws Exception;

    }

    /** A payload. */
    record Order(int number) {
    }

    /**
     * A handler that has started.
     *
     * @param order what it was given
     * @param delivery the delivery
     * @param headers the headers
     * @param at Redis' clock when it had started; {@code null} if Redis did not say
     */
    record Handled(Order order, Delivery delivery, Map<String, Object> headers, @Nullable Instant at) {

        int number() {
            return this.order.number();
        }

        /** P2: no handler starts before the due time. */
        Handled assertNotBefore(Instant dueAt) {
            assertThat(this.at).isAfterOrEqualTo(dueAt);
            assertThat(this.delivery.lateness()).isGreaterThanOrEqualTo(Duration.ZERO);
            return this;
        }

    }

}
