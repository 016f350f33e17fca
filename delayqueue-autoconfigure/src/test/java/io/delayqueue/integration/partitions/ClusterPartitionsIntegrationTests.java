package io.delayqueue.integration.partitions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1, P10: a queue over six partitions on a real cluster of three masters and three
 * replicas, while slots move and a master fails over.
 */
@Tag("server")
class ClusterPartitionsIntegrationTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final int PARTITIONS = 6;

    private static final Pattern TRYAGAIN = Pattern.compile("errorstat_TRYAGAIN:count=(\\d+)");

    private final RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1);

    private final Map<Integer, AtomicInteger> handled = new ConcurrentHashMap<>();

    /** Messages whose failed send may have stored them. */
    private final Set<Integer> unknown = ConcurrentHashMap.newKeySet();

    private final AtomicInteger sent = new AtomicInteger();

    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    @RegisterExtension
    final Applications applications = new Applications();

    private Application application;

    @BeforeEach
    void start() {
        this.application = this.applications.start(Applications.HandlerConfiguration.class,
                "spring.data.redis.cluster.nodes=" + String.join(",", this.cluster.nodes()),
                "delayqueue.queues." + QUEUE + ".partitions=" + PARTITIONS, "delayqueue.listener.lease=5s",
                "delayqueue.safety-poll=1s");
        this.application.handler()
            .does((order, delivery) -> this.handled.computeIfAbsent(order.number(), (number) -> new AtomicInteger())
                .incrementAndGet());
    }

    @AfterEach
    void stop() {
        this.thread.shutdownNow();
        this.applications.close();
        this.cluster.close();
    }

    private String tag(int partition) {
        return "{" + ((partition == 0) ? QUEUE : QUEUE + ":" + partition) + "}";
    }

    /** Sends until it is stopped, and repeats sends without effect. */
    private Future<Integer> load(AtomicInteger end) {
        DelayQueueOperations queue = this.application.queue();
        return this.thread.submit(() -> {
            int failures = 0;
            while (this.sent.get() < end.get()) {
                int number = this.sent.get();
                DelayedMessage message = DelayedMessage.builder(QUEUE, new Order(number))
                    .id("order-" + number)
                    .delay(Duration.ofMillis(number % 20))
                    .build();
                try {
                    queue.send(message);
                    this.sent.incrementAndGet();
                }
                catch (StoreUnavailableException ex) {
                    failures++;
                    assertThat(failures).as("failures in a row without end").isLessThan(10_000);
                    if (ex.effect() == Effect.UNKNOWN) {
                        // May have been handled by now, and then is again.
                        this.unknown.add(number);
                    }
                }
            }
            return failures;
        });
    }

    private void assertAllHandledOnce(int number) {
        Applications.await(() -> assertThat(this.application.queue().statistics(QUEUE)).satisfies((statistics) -> {
            assertThat(statistics.scheduled()).isZero();
            assertThat(statistics.leased()).isZero();
        }));
        Map<Integer, Integer> expected = new HashMap<>();
        IntStream.range(0, number).forEach((each) -> expected.put(each, 1));
        Map<Integer, Integer> actual = new HashMap<>();
        this.handled.forEach((each, times) -> actual.put(each, times.get()));
        assertThat(actual.keySet()).as("P1: none is lost").isEqualTo(expected.keySet());
        this.unknown.forEach((each) -> {
            actual.remove(each);
            expected.remove(each);
        });
        assertThat(actual).isEqualTo(expected);
    }

    @Test
    void partitionsLieOnAllMastersAndEachInOneSlot() {
        this.application.queue()
            .sendAll(IntStream.range(0, 100)
                .mapToObj(
                        (number) -> DelayedMessage.builder(QUEUE, new Order(number)).delay(Duration.ofHours(1)).build())
                .toList());

        Set<RedisServer> masters = IntStream.range(0, PARTITIONS)
            .mapToObj((partition) -> this.cluster.masterOf(tag(partition)))
            .collect(Collectors.toSet());
        assertThat(masters).hasSize(3);
        List<String> keys = new ArrayList<>();
        this.cluster.masters()
            .forEach((master) -> keys.addAll(master.commands().keys(this.applications.namespace() + ":*:messages")));
        assertThat(keys).hasSize(PARTITIONS);
    }

    @Test
    void keyNamesAreCheckedOnEachMaster() {
        this.application.queue()
            .sendAll(IntStream.range(0, 100)
                .mapToObj(
                        (number) -> DelayedMessage.builder(QUEUE, new Order(number)).delay(Duration.ofHours(1)).build())
                .toList());
        DelayQueueIntegrityChecker checker = this.application.context().getBean(DelayQueueIntegrityChecker.class);
        assertThat(checker.check(QUEUE)).isEqualTo(new IntegrityReport(100, List.of(), true));
        assertThat(checker.checkKeys().findings()).isEmpty();
        assertThat(checker.checkKeys().examined()).as("messages and scheduled of each")
            .isGreaterThanOrEqualTo(2 * PARTITIONS);

        List<String> foreign = IntStream.range(0, PARTITIONS)
            .mapToObj((partition) -> this.applications.namespace() + ":" + tag(partition) + ":foreign")
            .toList();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            this.cluster.masterOf(tag(partition)).commands().set(foreign.get(partition), "1");
        }

        assertThat(checker.checkKeys().findings()).extracting(Finding::id).containsExactlyInAnyOrderElementsOf(foreign);
    }

    @Test
    void slotsMoveUnderLoadWithoutLoss() throws Exception {
        AtomicInteger end = new AtomicInteger(Integer.MAX_VALUE);
        Future<Integer> load = load(end);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            int from = this.sent.get();
            Applications.awaitTrue("messages flow", () -> this.sent.get() > from + 50);
            move(SlotHash.getSlot(tag(partition)));
        }
        end.set(this.sent.get() + 50);

        assertThat(load.get(60, TimeUnit.SECONDS)).as("failures that a sender sees").isZero();
        assertAllHandledOnce(this.sent.get());
        assertThat(this.handled.values()).allMatch((times) -> times.get() == 1);
    }

    /**
     * Moves a slot key by key from its master to the next. Half way it waits until a
     * caller was asked to retry.
     */
    private void move(int slot) {
        RedisServer from = this.cluster.masterOfSlot(slot);
        List<RedisServer> masters = this.cluster.masters();
        RedisServer to = masters.get((masters.indexOf(from) + 1) % masters.size());
        String toId = to.commands().clusterMyId();
        to.commands().clusterSetSlotImporting(slot, from.commands().clusterMyId());
        from.commands().clusterSetSlotMigrating(slot, toId);
        long refused = refused(from) + refused(to);
        for (List<String> keys = from.commands().clusterGetKeysInSlot(slot, 1); !keys.isEmpty(); keys = from.commands()
            .clusterGetKeysInSlot(slot, 1)) {
            from.commands().migrate(to.host(), to.port(), keys.get(0), 0, 5_000);
            Applications.awaitTrue("a call that comes upon half a slot", () -> refused(from) + refused(to) > refused);
        }
        // The new one first: until it knows that the slot is its own, it sends clients
        // back.
        to.commands().clusterSetSlotNode(slot, toId);
        masters.forEach((master) -> master.commands().clusterSetSlotNode(slot, toId));
    }

    private static long refused(RedisServer server) {
        Matcher matcher = TRYAGAIN.matcher(server.commands().info("errorstats"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    @Test
    void aMasterFailsOverUnderLoadAndNothingIsLost() throws Exception {
        AtomicInteger end = new AtomicInteger(Integer.MAX_VALUE);
        Future<Integer> load = load(end);
        Applications.awaitTrue("messages flow", () -> this.sent.get() > 100);
        RedisServer master = this.cluster.masterOf(tag(0));

        this.cluster.handOver(master);

        int from = this.sent.get();
        Applications.awaitTrue("messages flow", () -> this.sent.get() > from + 300);
        end.set(this.sent.get());
        load.get(60, TimeUnit.SECONDS);
        assertAllHandledOnce(this.sent.get());
    }

}
