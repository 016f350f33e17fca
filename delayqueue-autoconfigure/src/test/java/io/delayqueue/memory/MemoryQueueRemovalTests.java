package io.delayqueue.memory;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static io.delayqueue.fixtures.store.StoreValues.HOME;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that the store in memory drops queues without content. */
class MemoryQueueRemovalTests {

    @Test
    void aRejectedCallLeavesNoQueue() {
        InMemoryMessageStore store = new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()),
                new ManualClock());
        OfferConditions late = new OfferConditions(7, (partition) -> 0);

        assertThat(store.cancel(HOME.with(late), ID)).isCompletedExceptionally();

        assertThat(store.isEmpty()).isTrue();
    }

}
