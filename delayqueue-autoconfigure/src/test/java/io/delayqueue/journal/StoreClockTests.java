package io.delayqueue.journal;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.routing.PartitionLayouts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

class StoreClockTests {

    private static final QueueName QUEUE = new QueueName("orders");

    private static final Partition PARTITION = Partition.first(QUEUE);

    private final PartitionLayoutStore store = mock(PartitionLayoutStore.class);

    private final StoreClock clock = new StoreClock(new PartitionLayouts(this.store, (queue) -> 0, System::nanoTime));

    @BeforeEach
    void queueThatWasNeverPartitioned() {
        given(this.store.read(any())).willReturn(CompletableFuture.completedFuture(Optional.empty()));
    }

    /** P3: otherwise one master that is away delays the relay of all queues. */
    @Test
    void waitsOnlyForTheFirstReadOfAPartitionThatDoesNotAnswer() {
        CompletableFuture<Instant> late = new CompletableFuture<>();
        given(this.store.now(PARTITION)).willReturn(CompletableFuture.failedFuture(new IllegalStateException("away")))
            .willReturn(late);

        this.clock.prepare(QUEUE);
        this.clock.prepare(QUEUE); // returns although the second read has not ended
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> this.clock.millis(PARTITION, System.nanoTime()))
            .withMessage("The time of partition %s is not known; nothing was changed", PARTITION);

        late.complete(Instant.ofEpochMilli(1_800_000_000_000L));
        assertThat(this.clock.millis(PARTITION, System.nanoTime())).isGreaterThanOrEqualTo(1_799_999_999_999L);
    }

    /** Otherwise the send of a second caller fails although the store answers. */
    @Test
    void aCallerDuringTheFirstReadWaitsForItToo() {
        CompletableFuture<Instant> late = new CompletableFuture<>();
        given(this.store.now(PARTITION)).willReturn(late);

        CompletableFuture<Void> first = this.clock.prepared(QUEUE);
        CompletableFuture<Void> second = this.clock.prepared(QUEUE);
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();

        late.complete(Instant.ofEpochMilli(1_800_000_000_000L));
        assertThat(second).isCompleted();
        assertThat(this.clock.millis(PARTITION, System.nanoTime())).isGreaterThanOrEqualTo(1_799_999_999_999L);
        then(this.store).should().now(PARTITION);
    }

}
