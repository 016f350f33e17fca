package io.delayqueue.integration.partitions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1, P6, P8: senders that learn of a change at different times send, cancel and
 * reschedule while the number of partitions changes under them and two nodes handle. No
 * message is lost or duplicated, and no cancelled message is handled.
 */
@Tag("server")
class RepartitionUnderLoadTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final int SENDERS = 3;

    private static final int STEPS = 400;

    private static final int SHARED = 150;

    private static final Duration FAR = Duration.ofHours(1);

    /** More than a sender has steps. */
    private static final int FAR_APART = 1_000_000;

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    private final Map<Integer, AtomicInteger> handled = new ConcurrentHashMap<>();

    private final Map<String, AtomicInteger> admitted = new ConcurrentHashMap<>();

    private final Set<Integer> sent = ConcurrentHashMap.newKeySet();

    private final Set<Integer> cancelled = ConcurrentHashMap.newKeySet();

    private final AtomicInteger steps = new AtomicInteger();

    /** Senders go on until then, however slowly the number changes. */
    private volatile boolean changed;

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void nothingIsLostOrDoubledWhileTheNumberChanges() throws Exception {
        long seed = System.nanoTime();
        for (int node = 0; node < 2; node++) {
            this.applications.withHandler(this.redis)
                .handler()
                .does((order, delivery) -> this.handled.computeIfAbsent(order.number(), (number) -> new AtomicInteger())
                    .incrementAndGet());
        }
        DelayQueueOperations operator = this.applications.withoutHandler(this.redis).queue();
        ExecutorService threads = Executors.newFixedThreadPool(SENDERS);
        try {
            List<Future<?>> walks = new ArrayList<>();
            for (int sender = 0; sender < SENDERS; sender++) {
                DelayQueueOperations queue = this.applications.withoutHandler(this.redis).queue();
                Random random = new Random(seed + sender);
                int first = sender * FAR_APART;
                walks.add(threads.submit(() -> walk(queue, random, first)));
            }
            int before = 1;
            for (int count : new int[] { 4, 2, 8 }) {
                int from = this.steps.get();
                Applications.awaitTrue("steps", () -> {
                    for (Future<?> walk : walks) {
                        if (walk.isDone()) {
                            walk.get();
                        }
                    }
                    return this.steps.get() - from > STEPS / 2;
                });
                assertThat(operator.repartition(QUEUE, count)).isEqualTo(before);
                before = count;
            }
            this.changed = true;
            for (Future<?> walk : walks) {
                walk.get(Applications.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            }
        }
        finally {
            this.changed = true;
            threads.shutdownNow();
        }
        assertThat(this.admitted.values()).as("P8, seed %d", seed).allMatch((count) -> count.get() == 1);
        for (int shared = 0; shared < SHARED; shared++) {
            if (this.admitted.containsKey("shared-" + shared)) {
                assertThat(operator.cancel(QUEUE, "shared-" + shared)).isEqualTo(CancelResult.CANCELLED);
                assertThat(operator.cancel(QUEUE, "shared-" + shared)).isEqualTo(CancelResult.NOT_FOUND);
            }
        }
        Applications.await(() -> assertThat(operator.statistics(QUEUE)).satisfies((statistics) -> {
            assertThat(statistics.scheduled()).isZero();
            assertThat(statistics.leased()).isZero();
        }));
        Map<Integer, Integer> expected = new HashMap<>();
        this.sent.forEach((number) -> expected.put(number, 1));
        this.cancelled.forEach(expected::remove);
        Map<Integer, Integer> actual = new HashMap<>();
        this.handled.forEach((number, times) -> actual.put(number, times.get()));
        assertThat(actual).as("P1, P6, seed %d", seed).isEqualTo(expected);
    }

    private Void walk(DelayQueueOperations queue, Random random, int first) {
        for (int number = first; !this.changed || number < first + STEPS; number++) {
            this.steps.incrementAndGet();
            String shared = "shared-" + random.nextInt(SHARED);
            if (queue.send(message(0, shared, FAR)).outcome() == SendOutcome.SCHEDULED) {
                this.admitted.computeIfAbsent(shared, (id) -> new AtomicInteger()).incrementAndGet();
            }
            String own = "own-" + number;
            assertThat(queue.send(message(number, own, Duration.ofMillis(random.nextInt(50)))).outcome())
                .isEqualTo(SendOutcome.SCHEDULED);
            this.sent.add(number);
            switch (random.nextInt(3)) {
                case 0 -> cancel(queue, first + random.nextInt(number - first + 1));
                case 1 -> queue.reschedule(QUEUE, own, Duration.ofMillis(random.nextInt(50)));
                default -> assertThat(queue.find(QUEUE, shared)).isPresent();
            }
        }
        return null;
    }

    private void cancel(DelayQueueOperations queue, int number) {
        if (queue.cancel(QUEUE, "own-" + number) == CancelResult.CANCELLED) {
            assertThat(this.cancelled.add(number)).as("cancelled twice: %d", number).isTrue();
        }
    }

    private static DelayedMessage message(int number, String id, Duration delay) {
        return DelayedMessage.builder(QUEUE, new Order(number)).id(id).delay(delay).build();
    }

}
