package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.ClockJumpLog;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * Tests what a run does for queues whose listeners are added and removed while it lasts.
 */
class ListenerRunTests {

    private static final QueueName QUEUE = new QueueName("reports");

    private static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    private final InMemoryMessageStore store = new InMemoryMessageStore(CODEC, () -> 0);

    private final AtomicInteger subscriptions = new AtomicInteger();

    private final WakeUps wakeUps = (partition, listener) -> {
        this.subscriptions.incrementAndGet();
        return this.subscriptions::decrementAndGet;
    };

    private final ListenerRun run = run(NodeHeartbeat.none());

    private ListenerRun run(NodeHeartbeat heartbeat) {
        return new ListenerRun(
                new StoreComponents(this.store, mock(MessageInspector.class), this.wakeUps,
                        mock(PartitionLayouts.class), MessageEventRecorderFactory.NONE, QueueRegistrar.NONE,
                        new LocalSchedules(this.store.schedules(), CODEC, LocalSchedules.MISFIRE_THRESHOLD, "")),
                (event) -> {
                }, new ClockJumpLog(),
                new SharedListenerSettings(Duration.ZERO, Duration.ofDays(1), null, false, HandlerExecution.DEFAULT),
                heartbeat);
    }

    @AfterEach
    void stop() {
        stop(this.run);
    }

    private static void stop(ListenerRun run) {
        run.retire();
        run.awaitEnd();
    }

    @Test
    void theSchedulesOfAQueueAreLeftWithItsLastListener() {
        this.run.add(QUEUE);
        this.run.add(QUEUE);
        assertThat(this.subscriptions).hasValue(1);

        this.run.remove(QUEUE);
        assertThat(this.subscriptions).hasValue(1);
        this.run.remove(QUEUE);
        assertThat(this.subscriptions).hasValue(0);

        this.run.add(QUEUE);
        assertThat(this.subscriptions).hasValue(1);
    }

    /** A context may start again before the handlers of the earlier run have ended. */
    @Test
    void theEndOfAnEarlierRunDoesNotRemoveTheNode() {
        NodeRegistry registry = mock();
        given(registry.report(any(), any()))
            .willReturn(CompletableFuture.completedFuture(new NodeEntry(true, Instant.EPOCH, new byte[0])));
        given(registry.remove(any())).willReturn(CompletableFuture.completedFuture(null));
        NodeHeartbeat heartbeat = new NodeHeartbeat(registry, new NodeStatusCodec.Node("n", "shop", "host", 1, null),
                List::of, List::of, System::nanoTime, Duration.ofMinutes(1), () -> {
                });
        ListenerRun earlier = run(heartbeat);
        ListenerRun later = run(heartbeat);
        earlier.add(QUEUE);
        later.add(QUEUE);

        stop(earlier);

        verify(registry, never()).remove(any());
        stop(later);
        verify(registry).remove("n");
    }

}
