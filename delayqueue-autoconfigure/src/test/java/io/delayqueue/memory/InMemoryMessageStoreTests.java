package io.delayqueue.memory;

import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.MessageStoreContract;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.testing.ManualClock;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

class InMemoryMessageStoreTests extends MessageStoreContract {

    private final ManualClock clock = new ManualClock();

    private final InMemoryMessageStore store = new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()),
            this.clock);

    @Override
    protected MessageStore store() {
        return this.store;
    }

    @Override
    protected MessageInspector inspector() {
        return this.store;
    }

    @Override
    protected PartitionLayoutStore records() {
        return this.store.partitionRecords();
    }

    @Override
    protected QueueInspector queueInspector() {
        return this.store.queueInspector();
    }

    @Override
    protected QueueRegistry directory() {
        return this.store.queueDirectory();
    }

    @Override
    protected NodeRegistry nodes() {
        return this.store.nodeDirectory();
    }

    @Override
    protected WakeUps wakeUps() {
        return this.store;
    }

    @Override
    protected ManualClock clock() {
        return this.clock;
    }

    @Override
    protected void assertNothingLeft() {
        assertThat(this.store.isEmpty()).isTrue();
    }

}
