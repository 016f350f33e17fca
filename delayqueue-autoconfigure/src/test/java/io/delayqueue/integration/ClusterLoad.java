package io.delayqueue.integration;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.PartitionLayout;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends to every partition of a queue until it is told to stop, a thread for each, and
 * keeps a record of what was sent and what was handled. A send that fails is made again,
 * with the same id. Threads: safe.
 */
final class ClusterLoad implements AutoCloseable {

    static final String QUEUE = "load";

    /** Between two sends of a thread: enough is under way, and two cores get by. */
    private static final Duration PACE = Duration.ofMillis(4);

    private final DelayQueueOperations queue;

    private final int partitions;

    private final ExecutorService threads;

    private final List<Future<?>> running = new ArrayList<>();

    private final List<Map<String, Sent>> sent;

    private final Set<String> doubtful = ConcurrentHashMap.newKeySet();

    private volatile boolean stopped;

    ClusterLoad(DelayQueueOperations queue, int partitions) {
        this.queue = queue;
        this.partitions = partitions;
        this.threads = Executors.newFixedThreadPool(partitions);
        this.sent = IntStream.range(0, partitions)
            .<Map<String, Sent>>mapToObj((partition) -> new ConcurrentHashMap<>())
            .toList();
    }

    static String tag(int partition) {
        return "{" + ((partition == 0) ? QUEUE : QUEUE + ":" + partition) + "}";
    }

    void start() {
        for (int partition = 0; partition < this.partitions; partition++) {
            int own = partition;
            this.running.add(this.threads.submit(() -> send(own)));
        }
    }

    private void send(int partition) {
        PartitionLayout spread = PartitionLayout.founding(this.partitions);
        for (int number = 0; !this.stopped; number++) {
            String id = "m" + number;
            if (spread.home(new QueueName(QUEUE), id).partition().index() == partition) {
                // Some are still waiting whenever something happens.
                Duration delay = (number % 8 == 0) ? Duration.ofSeconds(2) : Duration.ofMillis(number % 20);
                send(partition, id, DelayedMessage.builder(QUEUE, id).id(id).delay(delay).build());
                LockSupport.parkNanos(PACE.toNanos());
            }
        }
    }

    private void send(int partition, String id, DelayedMessage message) {
        while (!this.stopped) {
            long begun = System.nanoTime();
            try {
                Instant dueAt = this.queue.send(message).dueAt();
                this.sent.get(partition).put(id, new Sent(id, partition, dueAt, begun, System.nanoTime()));
                return;
            }
            catch (StoreUnavailableException ex) {
                if (ex.effect() == Effect.UNKNOWN) {
                    this.doubtful.add(id);
                }
                LockSupport.parkNanos(PACE.toNanos());
            }
        }
    }

    /** Waits until so many more were sent to each partition. */
    void awaitProgress(int messages) {
        List<Integer> before = this.sent.stream().map(Map::size).toList();
        for (int partition = 0; partition < this.partitions; partition++) {
            int own = partition;
            Applications.awaitTrue("sends to partition " + own,
                    () -> this.sent.get(own).size() >= before.get(own) + messages);
        }
    }

    void stop() throws InterruptedException, ExecutionException, TimeoutException {
        this.stopped = true;
        for (Future<?> each : this.running) {
            each.get(Applications.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** What was acknowledged to the senders. */
    List<Sent> sent() {
        return this.sent.stream().flatMap((ofPartition) -> ofPartition.values().stream()).toList();
    }

    /** The ids of which a send failed that may have been stored. */
    Set<String> doubtful() {
        return this.doubtful;
    }

    /** Waits until nothing is left to handle. */
    void awaitEmpty() {
        Applications.await(() -> assertThat(this.queue.statistics(QUEUE)).satisfies((statistics) -> {
            assertThat(statistics.scheduled()).isZero();
            assertThat(statistics.leased()).isZero();
        }));
    }

    /** Those that were acknowledged to the senders, and not handled. */
    List<Sent> lost(LoadHandler handler) {
        return sent().stream().filter((each) -> !handler.handled().containsKey(each.id())).toList();
    }

    /** P2; of what may have been sent twice the first due time is not known. */
    void assertNoneEarly(LoadHandler handler) {
        assertThat(sent()).filteredOn((each) -> !this.doubtful.contains(each.id()))
            .allSatisfy((each) -> assertThat(handler.handled().getOrDefault(each.id(), List.of()))
                .allSatisfy((at) -> assertThat(at).isAfterOrEqualTo(each.dueAt())));
    }

    /** How many were handled more than once, for no doubt of the sender. */
    long doubled(LoadHandler handler) {
        return handler.handled()
            .entrySet()
            .stream()
            .filter((each) -> each.getValue().size() > 1 && !this.doubtful.contains(each.getKey()))
            .count();
    }

    @Override
    public void close() {
        this.stopped = true;
        this.threads.shutdownNow();
    }

    /**
     * A message that the store has taken.
     *
     * @param id its id
     * @param partition its home
     * @param dueAt when it is due
     * @param begun when its last send began, by {@link System#nanoTime()}
     * @param answered when that returned
     */
    record Sent(String id, int partition, Instant dueAt, long begun, long answered) {
    }

    /** Handles the load, and says when. */
    static final class LoadHandler {

        private final Map<String, List<Instant>> handled = new ConcurrentHashMap<>();

        @DelayedListener(queues = QUEUE)
        void handle(String payload, Delivery delivery) {
            this.handled.computeIfAbsent(delivery.id(), (id) -> new CopyOnWriteArrayList<>()).add(Instant.now());
        }

        Map<String, List<Instant>> handled() {
            return this.handled;
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class LoadConfiguration {

        @Bean
        LoadHandler loadHandler() {
            return new LoadHandler();
        }

    }

}
