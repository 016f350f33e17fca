package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Groups over two nodes: the messages of one are handled one at a time in due order,
 * retries included (P4), and one that is stuck delays no other (P3).
 */
@Tag("server")
class GroupIntegrationTests {

    private static final List<String> GROUPS = List.of("north", "south", "east");

    private static final int MESSAGES = 50;

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    /** The handled messages by group, as {@code number/attempt}, in order. */
    private final Map<String, Queue<String>> handled = new ConcurrentHashMap<>();

    private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();

    private final Set<String> atOnce = ConcurrentHashMap.newKeySet();

    private final CountDownLatch stuck = new CountDownLatch(1);

    /** Open once the second half of the first group may be handled. */
    private final CountDownLatch half = new CountDownLatch(1);

    private Application one;

    private Application other;

    @BeforeEach
    void start() {
        this.one = start("delayqueue.listener.concurrency=4");
        this.other = start("delayqueue.listener.concurrency=4");
    }

    private Application start(String concurrency) {
        Application application = this.applications.withHandler(this.redis, concurrency, Applications.NO_SAFETY_POLL,
                "delayqueue.listener.backoff.initial=2ms", "delayqueue.listener.backoff.jitter=0");
        application.handler().does(this::handle);
        return application;
    }

    private void handle(Order order, Delivery delivery) throws InterruptedException {
        String group = delivery.group().orElseThrow();
        if (this.running.computeIfAbsent(group, (name) -> new AtomicInteger()).incrementAndGet() > 1) {
            this.atOnce.add(group);
        }
        try {
            if (group.equals("stuck")) {
                this.stuck.await();
            }
            if (group.equals(GROUPS.get(0)) && order.number() == MESSAGES / 2) {
                this.half.await();
            }
            this.handled.computeIfAbsent(group, (name) -> new ConcurrentLinkedQueue<>())
                .add(order.number() + "/" + delivery.attempt());
            if (delivery.attempt() == 1) {
                throw new IllegalStateException("the first attempt fails");
            }
        }
        finally {
            this.running.get(group).decrementAndGet();
        }
    }

    @Test
    void messagesOfAGroupAreHandledOneAtATimeInDueOrderIncludingRetries() {
        this.other.listener().pause();
        this.one.listener().pause();
        send(GROUPS, MESSAGES);
        this.one.listener().resume();
        Applications.awaitTrue("half of a group is handled",
                () -> this.handled.getOrDefault(GROUPS.get(0), new ConcurrentLinkedQueue<>()).size() == MESSAGES);
        // One of two nodes might have handled all messages, as the primary poller polls
        // first.
        this.other.listener().resume();
        this.one.listener().pause();
        this.half.countDown();
        Applications.awaitTrue("the other goes on", () -> !this.other.handler().rest().isEmpty());
        this.one.listener().resume();

        await(GROUPS, MESSAGES);

        assertThat(this.atOnce).isEmpty();
        List<String> inOrder = IntStream.range(0, MESSAGES)
            .boxed()
            .flatMap((number) -> List.of(number + "/1", number + "/2").stream())
            .toList();
        assertThat(GROUPS)
            .allSatisfy((group) -> assertThat(this.handled.get(group)).containsExactlyElementsOf(inOrder));
        this.applications.assertNoKeysLeft(this.redis);
        assertThat(this.one.handler().rest()).isNotEmpty();
        assertThat(this.other.handler().rest()).isNotEmpty();
    }

    @Test
    void aStuckGroupDelaysNoOther() {
        this.half.countDown();
        send(List.of("stuck"), 2 * MESSAGES);
        Applications.awaitTrue("it is stuck", () -> this.running.containsKey("stuck"));
        send(GROUPS, MESSAGES);

        await(GROUPS, MESSAGES);

        assertThat(this.handled).doesNotContainKey("stuck");
        assertThat(this.one.queue().statistics("orders").scheduled()).isEqualTo(2 * MESSAGES - 1);
        this.stuck.countDown();
        await(List.of("stuck"), 2 * MESSAGES);
        assertThat(this.atOnce).isEmpty();
        this.applications.assertNoKeysLeft(this.redis);
    }

    /** In any order, by both nodes; due a millisecond after each other. */
    private void send(List<String> groups, int messages) {
        Instant first = Applications.timeOf(this.redis.commands()).plus(Duration.ofSeconds(1));
        List<DelayedMessage> all = new ArrayList<>();
        for (String group : groups) {
            for (int i = 0; i < messages; i++) {
                all.add(DelayedMessage.builder("orders", new Order(i))
                    .id(group + i)
                    .group(group)
                    .dueAt(first.plusMillis(i))
                    .build());
            }
        }
        Collections.shuffle(all, new Random(1));
        this.one.queue().sendAll(all.subList(0, all.size() / 2));
        this.other.queue().sendAll(all.subList(all.size() / 2, all.size()));
    }

    private void await(List<String> groups, int messages) {
        Applications.await(() -> assertThat(groups)
            .allSatisfy((group) -> assertThat(this.handled.get(group)).isNotNull().hasSize(2 * messages)));
    }

}
