package io.delayqueue.memory;

import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.MessageInspector;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.MessageStoreContract;
import io.delayqueue.engine.NodeDirectory;
import io.delayqueue.engine.PartitionRecords;
import io.delayqueue.engine.QueueDirectory;
import io.delayqueue.engine.QueueInspector;
import io.delayqueue.engine.WakeUps;
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
    protected PartitionRecords records() {
        return this.store.partitionRecords();
    }

    @Override
    protected QueueInspector queueInspector() {
        return this.store.queueInspector();
    }

    @Override
    protected QueueDirectory directory() {
        return this.store.queueDirectory();
    }

    @Override
    protected NodeDirectory nodes() {
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
