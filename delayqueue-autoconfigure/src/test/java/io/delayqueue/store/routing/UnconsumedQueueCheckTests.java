package io.delayqueue.store.routing;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.QueueName;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.Pause;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Which queues count as having no consumer, and that each is logged once. */
@ExtendWith(OutputCaptureExtension.class)
class UnconsumedQueueCheckTests {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static final Duration LONG = Duration.ofMinutes(1);

    private final AtomicLong now = new AtomicLong();

    private final Map<String, PartitionCounts> queues = new TreeMap<>();

    private final List<ListenerStatus> listeners = new ArrayList<>();

    private final AtomicInteger searches = new AtomicInteger();

    private final Deque<Runnable> reads = new ArrayDeque<>();

    private boolean answersLater;

    private final RemoteConsumerQueues consumed = new RemoteConsumerQueues(10, this.now::get);

    private final UnconsumedQueueCheck unconsumed = new UnconsumedQueueCheck(components(), inspector(),
            new UnconsumedQueueCheck.Directories(queueRegistry(), nodeRegistry()), this.consumed, this.now::get);

    @Test
    void aQueueWhoseMessagesAreDueAndThatNoNodeListensToIsFound() {
        this.queues.put("orders", due(LONG));
        assertThat(found()).containsExactly("orders");
        assertThat(this.unconsumed.known().keySet()).containsExactly("orders");
        assertThat(this.unconsumed.search().join().get("orders").due()).isEqualTo(3);
    }

    @Test
    void aQueueWithAListenerIsNotFoundUnlessThatIsStoppedOrPaused() {
        this.queues.put("orders", due(LONG));
        this.listeners.add(listener("orders", true, false));
        assertThat(found()).isEmpty();

        this.listeners.set(0, listener("orders", false, false));
        assertThat(found()).containsExactly("orders");
        this.listeners.set(0, listener("orders", true, true));
        assertThat(found()).containsExactly("orders");
    }

    @Test
    void aQueueWhoseOnlyListenerAnOverrideHasPausedForItIsFound() {
        this.queues.put("orders", due(LONG));
        this.queues.put("other", due(LONG));
        ListenerOverride pause = new ListenerOverride("l", "orders", null, true, "alice", NOW, NOW.plusSeconds(60));
        this.listeners.add(new ListenerStatus("l", List.of("other", "orders"), 1, 1, true, false, null, 0, 0,
                List.of(new QueueStatus("other", 1, 1, 1, null), new QueueStatus("orders", 1, 1, 1, pause))));
        assertThat(found()).containsExactly("orders");
    }

    @Test
    void aQueueThatMayBeConsumedByOthersIsNotFound() {
        this.queues.put("young", due(LONG.minusMillis(1)));
        this.queues.put("leased", counts(LONG, 1, null));
        this.queues.put("paused", counts(LONG, 0, new Pause(null)));
        this.queues.put("waiting", new PartitionCounts(3, 0, 0, 0, 0, 0, NOW.plusSeconds(1), null, 0, NOW));
        assertThat(found()).isEmpty();
    }

    @Test
    void aQueueThatThisProcessHandsOutIsNotFoundForAWhile() {
        this.queues.put("orders", due(LONG));
        this.consumed.record(new QueueName("orders"));
        this.now.addAndGet(UnconsumedQueueCheck.MEMORY.toNanos());
        assertThat(found()).isEmpty();

        this.now.incrementAndGet();
        assertThat(found()).containsExactly("orders");
    }

    @Test
    void aQueueThatCannotBeReadHidesNoOther() {
        this.queues.put("broken", due(LONG));
        this.queues.put("orders", due(LONG));
        assertThat(found()).containsExactly("orders");
    }

    @Test
    void eachIsLoggedOnceUntilItIsConsumedAgain(CapturedOutput output) {
        this.queues.put("ordres", due(LONG));
        this.listeners.add(listener("orders", true, false));
        found();
        found();
        awaitLines(output, "'ordres'", 1);
        assertThat(output).contains("Queue 'ordres' has no consumer: 3 messages due, the oldest for 1 min, no node "
                + "reports a running listener for it, and none of its messages is leased. A node listens to 'orders'; "
                + "was that meant?");

        this.listeners.add(listener("ordres", true, false));
        found();
        this.listeners.remove(1);
        found();
        awaitLines(output, "'ordres'", 2);
    }

    @Test
    void aLotOfThemIsLoggedByAndBy(CapturedOutput output) {
        for (int i = 0; i < UnconsumedQueueCheck.MAX_LINES + 1; i++) {
            this.queues.put("queue-" + i, due(LONG));
        }
        found();
        awaitLines(output, "'queue-", UnconsumedQueueCheck.MAX_LINES);
        found();
        awaitLines(output, "'queue-", UnconsumedQueueCheck.MAX_LINES + 1);
    }

    @Test
    void theStoreIsSearchedOnceAMinuteHoweverManyAsk() {
        for (int i = 0; i < 100; i++) {
            this.unconsumed.refresh();
            this.unconsumed.known();
        }
        assertThat(this.searches).as("before other nodes had time to report").hasValue(0);

        this.now.addAndGet(UnconsumedQueueCheck.PERIOD.toNanos());
        for (int i = 0; i < 100; i++) {
            this.unconsumed.refresh();
            this.unconsumed.known();
        }
        assertThat(this.searches).hasValue(1);
    }

    @Test
    void aFewQueuesAreReadAtATime() {
        int count = 3 * UnconsumedQueueCheck.MAX_READS + 1;
        for (int i = 0; i < count; i++) {
            this.queues.put("queue-" + i, due(LONG));
        }
        this.answersLater = true;
        CompletableFuture<Map<String, QueueOverview>> found = this.unconsumed.search();

        int most = 0;
        while (!this.reads.isEmpty()) {
            most = Math.max(most, this.reads.size());
            this.reads.poll().run();
        }
        assertThat(most).isEqualTo(UnconsumedQueueCheck.MAX_READS);
        assertThat(found.join()).hasSize(count);
    }

    @Test
    void eachSearchContinuesWithTheNextQueuesByName() {
        for (int i = 0; i < UnconsumedQueueCheck.MAX_QUEUES; i++) {
            this.queues.put("queue-%04d".formatted(i), due(Duration.ZERO));
        }
        this.queues.put("queue-0001", due(LONG));
        this.queues.put("ship-1", due(LONG));
        this.queues.put("ship-2", due(LONG));

        assertThat(found()).containsExactly("queue-0001");
        assertThat(found()).containsExactly("queue-0001", "ship-1", "ship-2");
        assertThat(this.unconsumed.known()).hasSize(3);

        this.queues.put("queue-0001", due(Duration.ZERO));
        this.listeners.add(listener("ship-2", true, false));
        assertThat(found()).as("of the first names again").containsExactly("ship-1");
        this.queues.remove("ship-1");
        assertThat(found()).isEmpty();
        assertThat(this.unconsumed.known()).isEmpty();
    }

    /** Lines are written by another thread, those of other tests perhaps now. */
    private static void awaitLines(CapturedOutput output, String queue, int lines) {
        await().untilAsserted(() -> assertThat(output.getOut()
            .lines()
            .filter((line) -> line.contains("Queue " + queue) && line.contains("has no consumer"))).hasSize(lines));
    }

    private List<String> found() {
        return this.unconsumed.search().join().values().stream().map(QueueOverview::queue).toList();
    }

    private static PartitionCounts due(Duration since) {
        return counts(since, 0, null);
    }

    private static PartitionCounts counts(Duration since, long leased, @Nullable Pause pause) {
        return new PartitionCounts(3, 3, 0, leased, 0, 0, NOW.minus(since), pause, 0, NOW);
    }

    private static ListenerStatus listener(String queue, boolean running, boolean paused) {
        return new ListenerStatus("l", List.of(queue), 1, 1, running, paused, null, 0, 0, List.of());
    }

    private StoreComponents components() {
        return new StoreComponents(mock(MessageStore.class), mock(MessageInspector.class), mock(WakeUps.class),
                new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, this.now::get));
    }

    private QueueInspector inspector() {
        QueueInspector inspector = mock();
        given(inspector.counts(any())).willAnswer((call) -> {
            String queue = call.getArgument(0, Partition.class).queue().value();
            if (this.answersLater) {
                CompletableFuture<PartitionCounts> answer = new CompletableFuture<>();
                this.reads.add(() -> answer.complete(this.queues.get(queue)));
                return answer;
            }
            return queue.equals("broken") ? CompletableFuture.failedFuture(new IllegalStateException("WRONGTYPE"))
                    : CompletableFuture.completedFuture(this.queues.get(queue));
        });
        return inspector;
    }

    private QueueRegistry queueRegistry() {
        QueueRegistry registry = mock();
        given(registry.list(any(), anyInt())).willAnswer((call) -> {
            String after = call.getArgument(0);
            return CompletableFuture.completedFuture(this.queues.keySet()
                .stream()
                .filter((name) -> name.compareTo(after) > 0)
                .limit(call.getArgument(1, Integer.class))
                .map(QueueName::new)
                .toList());
        });
        return registry;
    }

    private NodeRegistry nodeRegistry() {
        NodeRegistry registry = mock();
        given(registry.list()).willAnswer((call) -> {
            this.searches.incrementAndGet();
            return CompletableFuture.completedFuture(List.of(new NodeRegistry.Report("n",
                    NodeStatusCodec.write(new NodeStatusCodec.Node("n", "shop", "host", 1, null), LONG, this.listeners,
                            NodeStatus.RunningHandlers.NONE, List.of()),
                    NOW)));
        });
        return registry;
    }

}
