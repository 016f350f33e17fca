package io.delayqueue.memory;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.contract.MessageStoreContract;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.ScheduleStore;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

class InMemoryMessageStoreTests extends MessageStoreContract {

    private final ManualClock clock = new ManualClock();

    private final InMemoryMessageStore store = new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()),
            this.clock);

    @Override
    public MessageStore store() {
        return this.store;
    }

    @Override
    public MessageInspector inspector() {
        return this.store;
    }

    @Override
    public PartitionLayoutStore records() {
        return this.store.partitionRecords();
    }

    @Override
    public QueueInspector queueInspector() {
        return this.store.queueInspector();
    }

    @Override
    public QueueRegistry registry() {
        return this.store.queueRegistry();
    }

    @Override
    public NodeRegistry nodes() {
        return this.store.nodeRegistry();
    }

    @Override
    public ActivityStore activity() {
        return this.store.activityStore();
    }

    @Override
    public ScheduleStore schedules() {
        return this.store.schedules();
    }

    @Override
    public WakeUps wakeUps() {
        return this.store;
    }

    @Override
    public ManualClock clock() {
        return this.clock;
    }

    @Override
    public void assertNothingLeft() {
        assertThat(this.store.isEmpty()).isTrue();
    }

}
