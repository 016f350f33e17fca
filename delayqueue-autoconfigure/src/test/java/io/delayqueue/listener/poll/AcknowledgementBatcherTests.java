package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests how long a handled message waits for others before it is acknowledged. */
class AcknowledgementBatcherTests {

    private final TestBed bed = new TestBed();

    private final AcknowledgementBatcher acknowledgements = new AcknowledgementBatcher(this.bed.queue(),
            this.bed.context, new LeaseRenewer(this.bed.queue(), this.bed.context));

    private long now() {
        return this.bed.clock.getAsLong();
    }

    private InFlightMessage lease(String id) {
        this.bed.store.add(id, Duration.ZERO);
        ClaimedMessage message = this.bed.store
            .claim(TestBed.QUEUE, new ClaimRequest(1, TestBed.LEASE, ExpiryPolicy.DROP))
            .join()
            .messages()
            .get(0);
        return new InFlightMessage(message, new InFlightMessage.Times(now(), now(), Instant.EPOCH), TestBed.LEASE);
    }

    @Test
    void theFirstMessageAndAFullBatchNeedAnIteration() {
        for (int i = 1; i <= MessageStore.BATCH_LIMIT + 1; i++) {
            assertThat(this.acknowledgements.add(lease("m" + i))).as("number %d", i)
                .isEqualTo(i == 1 || i == MessageStore.BATCH_LIMIT);
        }
        assertThat(this.acknowledgements.timeUntilFlush(now())).isZero();
        assertThat(this.acknowledgements.accept(this.acknowledgements.send())).isTrue();

        assertThat(this.acknowledgements.timeUntilFlush(now())).isNull();
        assertThat(this.acknowledgements.add(lease("next"))).isTrue();
        assertThat(this.acknowledgements.timeUntilFlush(now())).isEqualTo(TestBed.LINGER);
    }

    @Test
    void eachBatchWaitsAsLong() {
        for (int i = 0; i < 3; i++) {
            this.acknowledgements.add(lease("m" + i));
            assertThat(this.acknowledgements.timeUntilFlush(now())).isEqualTo(TestBed.LINGER);
            this.bed.clock.advance(TestBed.LINGER);
            assertThat(this.acknowledgements.timeUntilFlush(now())).isZero();
            this.acknowledgements.accept(this.acknowledgements.send());
        }
    }

    @Test
    void rejectedMessagesDoNotWait() {
        this.acknowledgements.add(lease("bad"));
        this.bed.store.poison = "bad";
        assertThat(this.acknowledgements.accept(this.acknowledgements.send())).isFalse();

        assertThat(this.acknowledgements.timeUntilFlush(now())).isZero();
    }

}
