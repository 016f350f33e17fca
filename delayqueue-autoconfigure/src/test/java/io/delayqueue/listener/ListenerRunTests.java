package io.delayqueue.listener;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.ClockJumpLog;
import io.delayqueue.listener.poll.HandlerExecutorSettings;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageInspector;
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
import static org.mockito.Mockito.mock;

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

    private final ListenerRun run = new ListenerRun(
            new StoreComponents(this.store, mock(MessageInspector.class), this.wakeUps, mock(PartitionLayouts.class),
                    MessageEventRecorderFactory.NONE, QueueRegistrar.NONE,
                    new LocalSchedules(this.store.schedules(), CODEC, LocalSchedules.MISFIRE_THRESHOLD, "")),
            (event) -> {
            }, new ClockJumpLog(),
            new SharedListenerSettings(Duration.ZERO, Duration.ofDays(1), null, false, HandlerExecutorSettings.DEFAULT),
            NodeHeartbeat.none());

    @AfterEach
    void stop() {
        this.run.retire();
        this.run.awaitEnd();
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

}
