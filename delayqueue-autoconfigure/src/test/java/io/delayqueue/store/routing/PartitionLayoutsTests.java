package io.delayqueue.store.routing;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.ResumeResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StaleLayoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Checks the cached layout of a process when reads of the layout fail. */
class PartitionLayoutsTests {

    private static final QueueName QUEUE = new QueueName("q");

    private static final int ROUNDS = 50_000;

    private static final PartitionLayout TWO = new PartitionLayout(2, List.of(1, 4, 2), true);

    private final Records records = new Records();

    private final PartitionLayouts layouts = new PartitionLayouts(this.records, (queue) -> 0, () -> 0);

    @Test
    void aWatcherThatThrowsDoesNotEndAllReading() {
        Runnable end = this.layouts.watch(QUEUE, (partitions) -> {
            throw new IllegalStateException("of a test");
        });
        this.records.put(0, TWO);

        assertThatThrownBy(() -> this.layouts.read(QUEUE).join()).hasRootCauseMessage("of a test");
        end.run();

        assertThat(this.layouts.read(QUEUE).join()).isEqualTo(TWO);
    }

    /** Or all later operations on the queue would wait for this read. */
    @Test
    void aReadThatEndsWithAnErrorDoesNotEndAllReading() {
        this.records.put(0, TWO);
        this.records.error = new StackOverflowError("of a test");
        assertThatThrownBy(() -> this.layouts.of(QUEUE).join()).hasRootCauseMessage("of a test");
        this.records.error = null;

        assertThat(this.layouts.of(QUEUE).join()).isEqualTo(TWO);
    }

    /** P3: or its node would never learn of later partitions. */
    @Test
    void aWatcherThatIsAddedWhileUnwatchedQueuesAreForgottenIsKept() {
        PartitionLayouts full = new PartitionLayouts(this.records, (queue) -> 0, () -> 0, 1);
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<?> forgetting = CompletableFuture.runAsync(() -> {
            for (int i = 0; !ended.get(); i++) {
                full.of(new QueueName("other" + i));
            }
        });
        try {
            for (int round = 0; round < ROUNDS; round++) {
                QueueName queue = new QueueName("q" + round);
                List<PartitionLayout> notified = new CopyOnWriteArrayList<>();
                this.records.recorded.clear();
                Runnable end = full.watch(queue, notified::add);

                this.records.put(0, TWO);
                full.read(queue).join();

                assertThat(notified).as("round %s", round).last().isEqualTo(TWO);
                end.run();
            }
        }
        finally {
            ended.set(true);
            forgetting.join();
        }
    }

    @Test
    void aChangeThatOthersAlwaysOvertakeFails() {
        this.records.overtaken = true;

        assertThatThrownBy(() -> this.layouts.repartition(QUEUE, 4).join()).cause()
            .isInstanceOfSatisfying(StoreUnavailableException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
    }

    @Test
    void workersPollNewPartitionsWhileOneOfThemIsAway() {
        List<PartitionLayout> notified = new ArrayList<>();
        this.layouts.watch(QUEUE, notified::add);
        this.records.away = 3;

        assertThatThrownBy(() -> this.layouts.repartition(QUEUE, 4).join()).isNotNull();

        assertThat(notified).last().satisfies((partitions) -> assertThat(partitions.all(QUEUE)).hasSize(4));
    }

    @Test
    void aRecordThatTheFirstPartitionHasLostIsTakenFromTheOneThatRefuses() {
        this.records.put(0, new PartitionLayout(1, List.of(1, 4), true));
        this.records.put(1, TWO);

        PartitionLayout read = this.layouts.read(QUEUE, new StaleLayoutException("stale", TWO)).join();

        assertThat(read).isEqualTo(TWO);
        assertThat(this.records.recorded.get(0)).isEqualTo(TWO);
    }

    @Test
    void aLayoutThatTheFirstPartitionLostIsReadFromTheOneThatAClaimNames() {
        this.records.put(0, new PartitionLayout(1, List.of(1, 4), true));
        this.records.put(1, TWO);

        this.layouts.onVersion(new Partition(QUEUE, 1), 2);

        assertThat(this.layouts.of(QUEUE).join()).isEqualTo(TWO);
        assertThat(this.records.recorded.get(0)).isEqualTo(TWO);
    }

    @Test
    void aPauseThatEndedHalfWayIsCompletedByTheNext() {
        this.records.put(0, TWO);
        this.records.away = 3;
        assertThatThrownBy(() -> this.layouts.pause(QUEUE, null).join()).isNotNull();
        this.records.away = -1;

        assertThat(new PartitionLayouts(this.records, (queue) -> 0, () -> 0).of(QUEUE).join().pause())
            .isEqualTo(new Pause(null));

        this.records.isEverywhere("3|1,4,2p");
    }

    /** Or the caller would not expect that the next process completes it. */
    @Test
    void aPauseThatEndedHalfWayIsNotReportedAsWithoutEffect() {
        this.records.put(0, TWO);
        this.records.away = 3;

        assertThatThrownBy(() -> this.layouts.pause(QUEUE, null).join()).cause()
            .isInstanceOfSatisfying(StoreUnavailableException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(Effect.UNKNOWN))
            .hasMessageContaining("The change of queue 'q' is recorded");
        assertThat(this.records.recorded.get(0)).extracting(PartitionLayout::text).isEqualTo("3|1,4,2p+");
    }

    @Test
    void aPauseIsDoneInAllPartitionsThoughAReadingFromBeforeIsUnderWay() {
        this.records.put(0, TWO);
        this.records.held = new CompletableFuture<>();
        CompletableFuture<PartitionLayout> before = this.layouts.read(QUEUE);

        CompletableFuture<PauseResult> pause = this.layouts.pause(QUEUE, null);

        assertThat(pause).isCompleted();
        this.records.isEverywhere("3|1,4,2p");
        this.records.held.complete(Optional.of(TWO));
        assertThat(before.join().pause()).isEqualTo(new Pause(null));
        this.records.isEverywhere("3|1,4,2p");
    }

    @Test
    void aPauseThatAPartitionHasLostIsRecordedThereAgain() {
        this.records.put(0, TWO);
        this.layouts.pause(QUEUE, null).join();
        int raised = this.records.raised;
        this.layouts.onVersion(new Partition(QUEUE, 2), 3);
        assertThat(this.records.raised).as("in the normal case").isEqualTo(raised);
        this.records.put(2, TWO);

        this.layouts.onVersion(new Partition(QUEUE, 2), 2);

        this.records.isEverywhere("3|1,4,2p");
    }

    @Test
    void nothingIsLeftOfAPauseThatEndedByItselfOnceItIsResumed() {
        this.records.put(0, TWO);
        this.layouts.pause(QUEUE, DueTime.at(Instant.EPOCH)).join();
        this.records.isEverywhere("3|1,4,2p0");

        assertThat(this.layouts.resume(QUEUE).join()).isEqualTo(ResumeResult.NOT_PAUSED);

        this.records.isEverywhere("4|1,4,2");
        assertThat(this.layouts.resume(QUEUE).join()).isEqualTo(ResumeResult.NOT_PAUSED);
        this.records.isEverywhere("4|1,4,2");
    }

    /** Records in a map. */
    private static final class Records implements PartitionLayoutStore {

        private final Map<Integer, PartitionLayout> recorded = new ConcurrentSkipListMap<>();

        /** The partition that cannot be reached. */
        private int away = -1;

        private boolean overtaken;

        private int raised;

        /** The future for which the next read waits. */
        private @Nullable CompletableFuture<Optional<PartitionLayout>> held;

        private boolean holding;

        private @Nullable Error error;

        void isEverywhere(String text) {
            assertThat(this.recorded).hasSize(4)
                .allSatisfy((index, recorded) -> assertThat(recorded.text()).isEqualTo(text));
        }

        void put(int partition, PartitionLayout partitions) {
            this.recorded.put(partition, partitions);
        }

        @Override
        public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
            if (this.error != null) {
                throw this.error;
            }
            CompletableFuture<Optional<PartitionLayout>> held = this.held;
            if (held != null && !this.holding) {
                this.holding = true;
                return held;
            }
            return CompletableFuture.completedFuture(Optional.ofNullable(this.recorded.get(partition.index())));
        }

        @Override
        public CompletableFuture<PartitionLayout> establish(QueueName queue, int count) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
                PartitionLayout next) {
            PartitionLayout there = this.recorded.get(0);
            if (this.overtaken) {
                this.recorded.put(0, new PartitionLayout(next.version(), List.of(1, 2), true));
            }
            else if (Optional.ofNullable(there).equals(expected)) {
                this.recorded.put(0, next);
            }
            return CompletableFuture.completedFuture(this.recorded.get(0));
        }

        @Override
        public CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions) {
            this.raised++;
            if (partition.index() == this.away) {
                return CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null));
            }
            this.recorded.merge(partition.index(), partitions,
                    (there, raised) -> (there.version() < raised.version()) ? raised : there);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Instant> now(Partition partition) {
            return CompletableFuture.completedFuture(Instant.EPOCH);
        }

    }

}
