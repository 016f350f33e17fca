package io.delayqueue.integration.handling;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.listener.DelayedListenerEndpoint;
import io.delayqueue.listener.poll.BackoffPolicy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Batch listeners on two nodes: each message is handled once (P4), one at a time within
 * its group and in due order, and no key is left (P10).
 */
@Tag("server")
class BatchIntegrationTests {

    private static final String QUEUE = "bulk";

    private static final Duration LEASE = Duration.ofSeconds(10);

    private static final int GROUPS = 5;

    private static final int MESSAGES = 40;

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private final BlockingQueue<List<Handled>> batches = new LinkedBlockingQueue<>();

    private Application start(String... properties) {
        return this.applications.withoutHandler(this.redis, properties);
    }

    private DelayedListenerEndpoint.Builder endpoint() {
        return DelayedListenerEndpoint.builder("bulk", QUEUE)
            .batchHandler(Integer.class, this::handle)
            .backoff(new BackoffPolicy(Duration.ofMillis(2), 1, Duration.ofMillis(2), 0));
    }

    /** The first attempt of every third message fails, without affecting the others. */
    private void handle(List<Integer> numbers, List<Delivery> deliveries) {
        List<Handled> batch = new ArrayList<>();
        for (int i = 0; i < numbers.size(); i++) {
            Delivery delivery = deliveries.get(i);
            batch.add(new Handled(numbers.get(i), delivery.group().orElse(""), delivery.attempt()));
            if (numbers.get(i) % 3 == 0 && delivery.attempt() == 1) {
                delivery.fail(new IllegalStateException("the first attempt fails"));
            }
        }
        this.batches.add(batch);
    }

    private List<DelayedMessage> messages(boolean grouped) {
        return IntStream.range(0, MESSAGES).mapToObj((i) -> {
            DelayedMessage.Builder message = DelayedMessage.builder(QUEUE, i);
            return (grouped ? message.group("group-" + i % GROUPS).delay(Duration.ofMillis(i)) : message).build();
        }).toList();
    }

    private List<Handled> handled(int count) {
        List<Handled> all = new ArrayList<>();
        Applications.awaitTrue("all are handled", () -> {
            List<List<Handled>> drained = new ArrayList<>();
            this.batches.drainTo(drained);
            drained.forEach(all::addAll);
            return all.size() >= count;
        });
        return all;
    }

    @Test
    void eachMessageIsHandledOnceThoughOthersOfItsBatchFail() {
        Application one = start();
        Application other = start();
        one.queue().sendAll(messages(false));
        one.listeners().register(endpoint().concurrency(2).batchSize(7).build());
        other.listeners().register(endpoint().concurrency(2).batchSize(7).build());

        int retried = (MESSAGES + 2) / 3;
        List<Handled> handled = handled(MESSAGES + retried);
        this.applications.assertNoKeysLeft(this.redis);
        assertThat(this.batches).isEmpty();
        assertThat(handled).hasSize(MESSAGES + retried).doesNotHaveDuplicates();
        assertThat(handled).filteredOn((message) -> message.attempt() == 2)
            .hasSize(retried)
            .allMatch((message) -> message.number() % 3 == 0);
    }

    @Test
    void aClaimBringsAllThatIsDueAndNothingWaitsForCompany() {
        Application one = start();
        one.queue().sendAll(messages(false));
        one.listeners()
            .register(endpoint()
                .batchHandler(Integer.class,
                        (numbers, deliveries) -> this.batches
                            .add(numbers.stream().map((i) -> new Handled(i, "", 1)).toList()))
                .concurrency(1)
                .build());
        assertThat(handled(MESSAGES)).extracting(Handled::number)
            .containsExactlyInAnyOrderElementsOf(IntStream.range(0, MESSAGES).boxed().toList());

        one.queue().send(QUEUE, 100);
        assertThat(handled(1)).containsExactly(new Handled(100, "", 1));
    }

    /** P4: a batch never holds two messages of a group, and retries keep their place. */
    @Test
    void aBatchHasOneMessageOfAGroupAtMostAndGroupsKeepTheirOrder() {
        Application one = start();
        Application other = start();
        one.queue().sendAll(messages(true));
        Map<String, List<Integer>> finished = new HashMap<>();
        one.listeners().register(endpoint().concurrency(3).build());
        other.listeners().register(endpoint().concurrency(3).build());

        int expected = MESSAGES;
        while (finished.values().stream().mapToInt(List::size).sum() < expected) {
            List<Handled> batch = next();
            assertThat(batch).extracting(Handled::group).doesNotHaveDuplicates();
            batch.stream()
                .filter((message) -> message.number() % 3 != 0 || message.attempt() == 2)
                .forEach((message) -> finished.computeIfAbsent(message.group(), (group) -> new ArrayList<>())
                    .add(message.number()));
        }
        assertThat(finished).hasSize(GROUPS);
        assertThat(finished.values()).allSatisfy((numbers) -> assertThat(numbers).isSorted());
        this.applications.assertNoKeysLeft(this.redis);
    }

    private List<Handled> next() {
        List<List<Handled>> next = new ArrayList<>();
        Applications.awaitTrue("another batch", () -> this.batches.drainTo(next, 1) == 1);
        return next.get(0);
    }

    /** The leases of a batch are renewed while its handler runs. */
    @Test
    void theLeasesOfABatchAreRenewedTogether() {
        Application one = start();
        one.queue().sendAll(messages(false).subList(0, 5));
        CountDownLatch renewed = new CountDownLatch(1);
        one.listeners().register(endpoint().batchHandler(Integer.class, (numbers, deliveries) -> {
            this.batches.add(numbers.stream().map((i) -> new Handled(i, "", deliveries.get(i).attempt())).toList());
            renewed.await();
            assertThat(deliveries).allMatch(Delivery::isLeased);
        }).lease(LEASE).concurrency(2).build());
        assertThat(handled(5)).hasSize(5);

        double first = earliestEnd();
        // A third of the lease later, long before its end even if the machine stalls.
        Applications.awaitTrue("all leases are renewed", () -> earliestEnd() > first);
        renewed.countDown();
        this.applications.assertNoKeysLeft(this.redis);
        assertThat(this.batches).isEmpty();
    }

    /** Returns the earliest end of a lease, in microseconds. */
    private double earliestEnd() {
        return this.redis.commands()
            .zrangeWithScores("%s:{%s}:leased".formatted(this.applications.namespace(), QUEUE), 0, 0)
            .get(0)
            .getScore();
    }

    private record Handled(int number, String group, int attempt) {
    }

}
