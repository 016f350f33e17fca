package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import tools.jackson.databind.json.JsonMapper;

/** A template on a store that tests look into. */
final class TemplateFixture {

    static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    static final int MAX_PAYLOAD_SIZE = 500_000;

    static final Duration LEASE = Duration.ofSeconds(30);

    /** Longer than any test may take, so that a call that waits for it fails its test. */
    static final Duration AGES = Duration.ofHours(1);

    /** For queues that have always had one partition. */
    static final PartitionLayouts PARTITIONS = new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, () -> 0);

    final List<Object> events = new CopyOnWriteArrayList<>();

    final TemplateFakeStore store;

    TemplateFixture(LongSupplier millis) {
        this.store = new TemplateFakeStore(millis);
    }

    DelayQueueTemplate template() {
        return template(false, AGES, System::nanoTime);
    }

    DelayQueueTemplate template(PartitionLayouts partitions) {
        return template(partitions, false, AGES, System::nanoTime);
    }

    DelayQueueTemplate template(boolean afterCommit, Duration waitLimit, LongSupplier nanoTime) {
        return template(PARTITIONS, afterCommit, waitLimit, nanoTime);
    }

    private DelayQueueTemplate template(PartitionLayouts partitions, boolean afterCommit, Duration waitLimit,
            LongSupplier nanoTime) {
        ConsumeSettings receive = new ConsumeSettings(LEASE, 3, 2, ExpiryPolicy.DROP, AGES,
                (failures) -> Duration.ZERO);
        return new DelayQueueTemplate(new StoreComponents(this.store, this.store, this.store, partitions), CODEC,
                new TemplateSettings(MAX_PAYLOAD_SIZE, afterCommit, waitLimit, (queue) -> receive), this.events::add,
                nanoTime);
    }

    /** The store's clock where it shall move: one of its own, and not the epoch's. */
    static long runningMillis() {
        return 5_000_000 + System.nanoTime() / 1_000_000;
    }

}
