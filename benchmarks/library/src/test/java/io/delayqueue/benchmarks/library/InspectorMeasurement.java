package io.delayqueue.benchmarks.library;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisPartitionLayoutStore;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisQueueRegistry;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.template.InspectorTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures the queries of an operator's page, with a million scheduled messages, or
 * {@code -Ddq.messages}: half of them in one queue and due in one millisecond, the others
 * in 1,000 queues, beside 10,000 dead letters and 10,000 messages that are retried.
 * Prints how long the calls and the scripts took, and the load of the machine.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class InspectorMeasurement {

    private static final int MESSAGES = Integer.getInteger("dq.messages", 1_000_000);

    private static final int QUEUES = 1_000;

    private static final int AT_ONCE = 100;

    private static final int CALLS_UNDER_WAY = 50;

    private static final int ROUNDS = 30;

    private static final String LARGE = "large";

    /** The queues whose messages have failed, and how many each has. */
    private static final String DEAD = "dead";

    private static final String RETRIED = "retried";

    private static final int FAILED = 10_000;

    private static final String CAUSE = "java.lang.IllegalStateException: The depot has no bread\n"
            + "\tat io.delayqueue.listener.handler.BeanMethod.invoke(BeanMethod.java:59)\n".repeat(30);

    private static final byte[] ENVELOPE = "{\"payload\":{\"text\":\"%s\"}}".formatted("x".repeat(80))
        .getBytes(StandardCharsets.US_ASCII);

    private final List<CompletableFuture<?>> underWay = new ArrayList<>();

    @Test
    void inspectsQueues() {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(),
                "latency-tracking-info-percentiles 50 99 99.9 100")) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
            RedisScriptExecutor redis = new RedisScriptExecutor(
                    RedisScriptExecutor.runner(connections, Duration.ofMinutes(1)), "measured");
            fill(redis);
            DelayQueueInspector inspector = new InspectorTemplate(
                    new InspectorTemplate.Stores(new RedisQueueInspector(redis), new RedisQueueRegistry(redis),
                            NodeRegistry.NONE, ActivityStore.NONE, ScheduleStore.NONE),
                    new PartitionLayouts(new RedisPartitionLayoutStore(redis), (queue) -> 0, System::nanoTime),
                    Duration.ofMinutes(1));
            List<String> queues = inspector.queues(null, QUEUES).queues();
            measure("the list of " + QUEUES + " queues", server,
                    () -> assertThat(inspector.queues(null, QUEUES).queues()).hasSize(QUEUES));
            measure("overviews of all", server,
                    () -> assertThat(inspector.overviews(queues).overviews()).hasSize(QUEUES));
            measure("overview and horizon of the large one", server, () -> {
                assertThat(inspector.overview(LARGE).scheduled()).isEqualTo(MESSAGES / 2);
                assertThat(inspector.dueForecast(LARGE).later()).isEqualTo(MESSAGES / 2);
            });
            MessagePage first = inspector.messages(LARGE, MessageSelection.SCHEDULED, null, 100);
            measure("a page of 100 within one millisecond", server,
                    () -> assertThat(
                            inspector.messages(LARGE, MessageSelection.SCHEDULED, first.nextCursor(), 100).messages())
                        .hasSize(100));
            measureWalks(server, new RedisQueueInspector(redis));
            connections.destroy();
        }
    }

    /** Measures walks, of which each call of the script is one step. */
    private void measureWalks(RedisServer server, RedisQueueInspector inspector) {
        measure("ids of the large queue that begin with a text, of which a hundredth does", server,
                () -> assertThat(scan(inspector, LARGE, ScanSelection.ALL, "message-12")).isPositive());
        measure("ids of the large queue that begin with a text, of which all do", server,
                () -> assertThat(scan(inspector, LARGE, ScanSelection.ALL, "message-"))
                    .isGreaterThanOrEqualTo(MESSAGES / 2));
        measure("ids that begin with a text, of " + FAILED + " dead letters", server,
                () -> assertThat(scan(inspector, DEAD, ScanSelection.ALL, "message-")).isGreaterThanOrEqualTo(FAILED));
        measure("the messages that are retried, of " + FAILED, server,
                () -> assertThat(scan(inspector, RETRIED, ScanSelection.RETRYING, "")).isGreaterThanOrEqualTo(FAILED));
        measure("the causes of " + FAILED + " dead letters", server,
                () -> assertThat(deadLetters(inspector)).isEqualTo(FAILED));
        measure("one id among " + FAILED + " dead letters", server, () -> {
            String cursor = null;
            do {
                cursor = inspector.locate(partition(DEAD), "message-7", cursor).join().nextCursor();
            }
            while (cursor != null);
        });
    }

    /** Returns how often messages and dead letters are found, some more than once. */
    private static long scan(RedisQueueInspector inspector, String queue, ScanSelection selection, String idPrefix) {
        long found = 0;
        String cursor = null;
        do {
            MessageScanPage step = inspector.scan(partition(queue), selection, idPrefix, cursor).join();
            found += step.messages().size() + step.deadLetters().size();
            cursor = step.nextCursor();
        }
        while (cursor != null);
        return found;
    }

    private static long deadLetters(RedisQueueInspector inspector) {
        long found = 0;
        String cursor = null;
        do {
            DeadLetterSummaryPage page = inspector.deadLetterSummaries(partition(DEAD), cursor, AT_ONCE).join();
            found += page.deadLetters().size();
            cursor = page.nextCursor();
        }
        while (cursor != null);
        return found;
    }

    private static Partition partition(String queue) {
        return Partition.first(new QueueName(queue));
    }

    private void fill(RedisScriptExecutor redis) {
        RedisMessageStore store = new RedisMessageStore(redis);
        RedisQueueRegistry registry = new RedisQueueRegistry(redis);
        Instant due = Instant.parse("2100-01-01T00:00:00Z");
        for (int from = 0; from < MESSAGES / 2; from += AT_ONCE) {
            send(store, LARGE, from, due);
        }
        for (String name : List.of(DEAD, RETRIED)) {
            for (int from = 0; from < FAILED; from += AT_ONCE) {
                send(store, name, from, Instant.EPOCH);
            }
            this.underWay.forEach(CompletableFuture::join);
            fail(store, name);
        }
        for (int queue = 0; queue < QUEUES; queue++) {
            String name = (queue == 0) ? LARGE : "queue-" + queue;
            registry.add(new QueueName(name)).join();
            for (int from = 0; queue > 0 && from < MESSAGES / 2 / QUEUES; from += AT_ONCE) {
                send(store, name, from, due.plusMillis(from));
            }
        }
        this.underWay.forEach(CompletableFuture::join);
    }

    private void send(RedisMessageStore store, String queue, int from, Instant due) {
        List<NewMessage> messages = IntStream.range(from, from + AT_ONCE)
            .mapToObj((number) -> new NewMessage("message-" + number, false, DueTime.at(due), OnDuplicate.KEEP, 4, null,
                    null, ENVELOPE))
            .toList();
        this.underWay.add(store.schedule(PartitionTarget.first(new QueueName(queue)), messages));
        if (this.underWay.size() == CALLS_UNDER_WAY) {
            this.underWay.forEach(CompletableFuture::join);
            this.underWay.clear();
        }
    }

    /** Ends an attempt of each message, which is dead-lettered or retried. */
    private static void fail(RedisMessageStore store, String queue) {
        ClaimRequest request = new ClaimRequest(AT_ONCE, Duration.ofMinutes(10), ExpiryPolicy.DROP);
        for (int from = 0; from < FAILED; from += AT_ONCE) {
            List<CompletableFuture<Boolean>> ended = store.claim(partition(queue), request)
                .join()
                .messages()
                .stream()
                .map((claimed) -> queue.equals(DEAD)
                        ? store.deadLetter(claimed.lease(), new DeadLetterRequest(CAUSE, true, Instant.EPOCH))
                        : store.retry(claimed.lease(), Duration.ofDays(1), CAUSE.substring(0, 500)))
                .toList();
            assertThat(ended).hasSize(AT_ONCE).allMatch(CompletableFuture::join);
        }
    }

    private static void measure(String what, RedisServer server, Runnable action) {
        action.run();
        server.commands().configResetstat();
        long[] took = new long[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            action.run();
            took[round] = (System.nanoTime() - start) / 1_000;
        }
        long[] sorted = Arrays.stream(took).sorted().toArray();
        System.out.printf("%s: half within %,d us, at most %,d us; load %.1f on %d cores%n", what, sorted[ROUNDS / 2],
                sorted[ROUNDS - 1], ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
        server.commands()
            .info("latencystats")
            .lines()
            .filter((line) -> line.contains("evalsha"))
            .forEach((line) -> System.out.println("  " + line));
    }

}
