package io.delayqueue.memory;

import java.time.Duration;
import java.util.List;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.HOME;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that the store in memory forgets duplicate windows that have ended. */
class MemoryDuplicatesTests {

    private final ManualClock clock = new ManualClock();

    private final InMemoryMessageStore store = new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()),
            this.clock);

    @Test
    void anyCallForgetsTheWindowsThatHaveEnded() {
        handle("long", DELAY.multipliedBy(2));
        handle("short", DELAY);

        this.clock.advance(DELAY);
        this.store.statistics(QUEUE).join();
        assertThat(this.store.isEmpty()).as("one runs").isFalse();

        this.clock.advance(DELAY);
        this.store.statistics(QUEUE).join();
        assertThat(this.store.isEmpty()).isTrue();
    }

    private void handle(String id, Duration window) {
        this.store.schedule(HOME, List.of(called(id, Duration.ZERO).withDuplicateWindow(window))).join();
        ClaimRequest request = new ClaimRequest(1, LEASE, ExpiryPolicy.DROP);
        this.store.acknowledge(QUEUE, List.of(this.store.claim(QUEUE, request).join().messages().get(0).lease()))
            .join();
    }

}
