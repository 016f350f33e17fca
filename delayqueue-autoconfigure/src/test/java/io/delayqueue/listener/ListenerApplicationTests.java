package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueHeaders;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.HandlerConcurrencyLimiter;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.MicrosClock;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.messaging.handler.annotation.Header;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests an application with all parts of the package and the in-memory store: P2 (never
 * early), P3 (always eventually), P9 (one dead letter) and P12 (messages after a restart)
 * from the user's perspective.
 */
class ListenerApplicationTests {

    private static final Partition ORDERS = Partition.first(new QueueName("orders"));

    private static final Partition FAILING = Partition.first(new QueueName("failing"));

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    private final InMemoryMessageStore store = new InMemoryMessageStore(this.codec, new MicrosClock());

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private HandlerConcurrencyLimiter limiter;

    @BeforeEach
    void start() {
        ListenerSettings settings = new ListenerSettings(4, Duration.ofSeconds(30), null, 2, 3,
                new BackoffPolicy(Duration.ofMillis(20), 2, Duration.ofSeconds(1), 0.1), ExpiryPolicy.DROP, true,
                Set.of());
        this.context.registerBean(HandlerConcurrencyLimiter.class);
        this.context.registerBean(DelayedListenerRegistry.class,
                () -> new DelayedListenerRegistry((queue) -> settings,
                        new HandlerMethodFactory(this.codec, null, MessageObservations.NONE),
                        MessageEventRecorderFactory.NONE));
        this.context.registerBean(DelayedListenerAnnotationBeanPostProcessor.class,
                () -> new DelayedListenerAnnotationBeanPostProcessor(
                        this.context.getBeanProvider(DelayedListenerRegistry.class), (system) -> null,
                        (system) -> LocalSchedules.none()));
        this.context.registerBean(DelayedListenerLifecycle.class,
                () -> new DelayedListenerLifecycle(
                        new StoreComponents(this.store, this.store, this.store, TestBed.PARTITIONS),
                        this.context.getBean(DelayedListenerRegistry.class), this.context,
                        new SharedListenerSettings(Duration.ofSeconds(30), Duration.ofSeconds(60), null, false,
                                HandlerExecution.DEFAULT),
                        NodeHeartbeat.none()));
        this.context.refresh();
        this.limiter = this.context.getBean(HandlerConcurrencyLimiter.class);
    }

    @AfterEach
    void close() {
        this.context.close();
    }

    private SendResult send(Partition queue, String id, Order order, Duration delay) {
        byte[] envelope = this.codec.write(order, Map.of("source", "test"));
        return this.store
            .schedule(PartitionTarget.first(queue.queue()), List.of(NewMessage.of(id, DueTime.after(delay), envelope)))
            .join()
            .get(0);
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(30, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    @Test
    void handlesAMessageWhenItIsDueThoughTheWorkerSleeps() throws Exception {
        long before = System.nanoTime();
        SendResult sent = send(ORDERS, "m", new Order(42), Duration.ofMillis(200));

        Handled handled = next(this.limiter.handled);
        assertThat(handled.order()).isEqualTo(new Order(42));
        assertThat(handled.id()).isEqualTo("m");
        assertThat(handled.source()).isEqualTo("test");
        assertThat(Duration.ofNanos(handled.at() - before)).isGreaterThanOrEqualTo(Duration.ofMillis(200));
        assertThat(handled.dueAt()).isEqualTo(sent.dueAt());
    }

    @Test
    void handlesABurstOnceEach() throws Exception {
        for (int i = 0; i < 500; i++) {
            send(ORDERS, "m" + i, new Order(i), Duration.ofMillis(20));
        }
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 500; i++) {
            assertThat(seen.add(next(this.limiter.handled).order().number())).isTrue();
        }
        this.context.getBean(DelayedListenerLifecycle.class).stop();
        assertThat(this.store.statistics(ORDERS).join().leased()).isZero();
        assertThat(this.context.getBean(DelayedListenerRegistry.class).require("orders-listener").statistics())
            .isEqualTo(new ListenerStatistics(500, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void publishesOneDeadLetterAfterTheLastAttempt() throws Exception {
        send(FAILING, "m", new Order(1), Duration.ZERO);

        DeadLetterEvent event = next(this.limiter.deadLetters);
        assertThat(event.failures()).isEqualTo(2);
        assertThat(event.reason()).isEqualTo("java.lang.IllegalStateException: boom");
        assertThat(this.store.deadLetters(FAILING, null, 10).join().deadLetters()).hasSize(1)
            .first()
            .satisfies((deadLetter) -> assertThat(deadLetter.id()).isEqualTo(event.deadLetterId()));
    }

    @Test
    void continuesAfterEachPauseOfTheContext() throws Exception {
        for (int i = 0; i < 3; i++) {
            this.context.stop();
            send(ORDERS, "m" + i, new Order(i), Duration.ZERO);
            assertThat(this.limiter.handled).isEmpty();
            this.context.start();
            assertThat(next(this.limiter.handled).order()).isEqualTo(new Order(i));
        }
    }

    record Order(int number) {
    }

    record Handled(Order order, String id, String source, Instant dueAt, long at) {
    }

    static class HandlerConcurrencyLimiter {

        final BlockingQueue<Handled> handled = new LinkedBlockingQueue<>();

        final BlockingQueue<DeadLetterEvent> deadLetters = new LinkedBlockingQueue<>();

        @DelayedListener(queues = "orders", id = "orders-listener")
        void handle(Order order, @Header(DelayQueueHeaders.ID) String id, @Header String source,
                @Header(DelayQueueHeaders.DUE_AT) Instant dueAt) {
            this.handled.add(new Handled(order, id, source, dueAt, System.nanoTime()));
        }

        @DelayedListener("failing")
        CompletableFuture<Void> fail(Order order) {
            return CompletableFuture.failedFuture(new IllegalStateException("boom"));
        }

        @EventListener
        void died(DeadLetterEvent event) {
            this.deadLetters.add(event);
        }

    }

}
