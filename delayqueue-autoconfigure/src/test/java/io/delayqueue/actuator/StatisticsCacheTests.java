package io.delayqueue.actuator;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.DueCounts;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.RetryingStep;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Checks the store calls of a scrape, and that it never blocks. */
class StatisticsCacheTests {

    private static final QueueName ORDERS = new QueueName("orders");

    private static final QueueName BILLS = new QueueName("bills");

    private final AtomicLong now = new AtomicLong();

    private final Inspector inspector = new Inspector();

    private final StatisticsCache statistics = new StatisticsCache(this.inspector,
            new StoreComponents(mock(MessageStore.class), mock(MessageInspector.class), mock(WakeUps.class),
                    new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, this.now::get)),
            () -> List.of(ORDERS, BILLS, ORDERS), Duration.ofSeconds(10), this.now::get);

    @Test
    void readsOncePerPartitionAndIntervalForAllCallers() {
        for (int i = 0; i < 1000; i++) {
            this.statistics.of(ORDERS);
            this.statistics.of(BILLS);
        }
        assertThat(this.inspector.reads).containsExactlyInAnyOrder(Partition.first(ORDERS), Partition.first(BILLS));

        advance(Duration.ofSeconds(10).minusNanos(1));
        this.statistics.of(ORDERS);
        assertThat(this.inspector.reads).hasSize(2);

        advance(Duration.ofNanos(1));
        this.statistics.of(ORDERS);
        this.statistics.of(BILLS);
        assertThat(this.inspector.reads).hasSize(4);
    }

    @Test
    void returnsTheLastKnownCountsWithoutWaiting() {
        assertThat(scheduled(ORDERS)).isEqualTo(7);

        this.inspector.answer = new CompletableFuture<>();
        advance(Duration.ofMinutes(1));
        assertThat(scheduled(ORDERS)).isEqualTo(7);
        advance(StatisticsCache.MAX_REFRESH_TIME);
        assertThat(scheduled(ORDERS)).as("while an answer is awaited").isEqualTo(7);
        advance(Duration.ofNanos(1));
        assertThat(this.statistics.of(ORDERS)).as("of a store that hangs").isNull();
        assertThat(this.inspector.reads).hasSize(4);

        this.inspector.answer.complete(counts(8));
        assertThat(scheduled(ORDERS)).isEqualTo(8);
    }

    @Test
    void returnsNothingUntilAStoreThatHangsAnswers() {
        assertThat(scheduled(ORDERS)).isEqualTo(7);

        this.inspector.answer = CompletableFuture.failedFuture(new IllegalStateException("away"));
        advance(Duration.ofMinutes(1));
        assertThat(this.statistics.of(ORDERS)).isNull();
        assertThat(this.statistics.refresh()).isCompletedWithValue(Map.of());

        this.inspector.answer = CompletableFuture.completedFuture(counts(9));
        advance(Duration.ofMinutes(1));
        assertThat(scheduled(ORDERS)).isEqualTo(9);
    }

    @Test
    void refreshesSoonAfterARefreshThatAQueueDidNotAnswer() {
        this.inspector.failing = BILLS;
        assertThat(scheduled(ORDERS)).isEqualTo(7);
        assertThat(this.statistics.of(BILLS)).isNull();

        this.inspector.failing = null;
        advance(StatisticsCache.RETRY.minusNanos(1));
        assertThat(this.statistics.of(BILLS)).as("one read per second while the store is unavailable").isNull();
        advance(Duration.ofNanos(1));
        assertThat(scheduled(BILLS)).isEqualTo(7);
        advance(Duration.ofSeconds(10).minusNanos(1));
        assertThat(scheduled(BILLS)).isEqualTo(7);
        assertThat(this.inspector.reads).hasSize(4);
    }

    @Test
    void returnsCountsNoOlderThanTheCallerAllows() {
        assertThat(this.statistics.refresh(Duration.ofSeconds(2)).join()).hasSize(2);
        advance(Duration.ofSeconds(2).minusNanos(1));
        this.statistics.refresh(Duration.ofSeconds(2));
        assertThat(this.inspector.reads).hasSize(2);
        advance(Duration.ofNanos(1));
        this.statistics.refresh(Duration.ofSeconds(2));
        assertThat(this.inspector.reads).hasSize(4);
        advance(Duration.ofSeconds(10));
        this.statistics.refresh(Duration.ofHours(1));
        assertThat(this.inspector.reads).hasSize(6);
    }

    @Test
    void readsABlockingClientOnOneThreadForAllCallers() {
        MessageStore store = mock(MessageStore.class);
        given(store.isBlocking()).willReturn(true);
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        QueueInspector hanging = mock(QueueInspector.class);
        CompletableFuture<PartitionCounts> answer = new CompletableFuture<>();
        given(hanging.counts(Partition.first(ORDERS))).willAnswer((call) -> {
            threads.add(Thread.currentThread());
            return CompletableFuture.completedFuture(answer.join());
        });
        StatisticsCache blocking = new StatisticsCache(hanging,
                new StoreComponents(store, mock(MessageInspector.class), mock(WakeUps.class),
                        new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, this.now::get)),
                () -> List.of(ORDERS), Duration.ofSeconds(10), this.now::get);

        CompletableFuture<?> first = blocking.reach();
        assertThat(blocking.reach()).isSameAs(first);
        answer.complete(counts(7));
        assertThat(first.join()).isEqualTo(counts(7));
        assertThat(threads).singleElement()
            .satisfies((thread) -> assertThat(thread.getName()).isEqualTo("delayqueue-statistics"));
        assertThat(blocking.reach()).isNotSameAs(first);
    }

    @Test
    void readsABlockingClientAgainAfterNoThreadCouldBeStarted() {
        MessageStore store = mock(MessageStore.class);
        given(store.isBlocking()).willReturn(true);
        AtomicBoolean exhausted = new AtomicBoolean();
        StatisticsCache blocking = new StatisticsCache(this.inspector,
                new StoreComponents(store, mock(MessageInspector.class), mock(WakeUps.class),
                        new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, this.now::get)),
                () -> List.of(ORDERS), Duration.ofSeconds(10), this.now::get, (call) -> {
                    if (exhausted.get()) {
                        throw new OutOfMemoryError("unable to create native thread, of a test");
                    }
                    call.run();
                });
        assertThat(blocking.refresh().join()).containsOnlyKeys(ORDERS);

        exhausted.set(true);
        advance(Duration.ofSeconds(10));
        assertThat(blocking.refresh()).isCompleted();
        assertThat(blocking.of(ORDERS)).as("the last known counts").isNotNull();
        assertThat(blocking.reach()).isCompletedExceptionally();
        advance(StatisticsCache.MAX_REFRESH_TIME.plusNanos(1));
        assertThat(blocking.of(ORDERS)).as("counts that are too old").isNull();

        exhausted.set(false);
        advance(StatisticsCache.RETRY);
        assertThat(blocking.of(ORDERS)).isNotNull();
        assertThat(blocking.reach().join()).isEqualTo(counts(7));
    }

    private long scheduled(QueueName queue) {
        QueueOverview overview = this.statistics.of(queue);
        assertThat(overview).isNotNull();
        return overview.scheduled();
    }

    private void advance(Duration span) {
        this.now.addAndGet(span.toNanos());
    }

    private static PartitionCounts counts(long scheduled) {
        return new PartitionCounts(scheduled, 0, 0, 0, 0, 0, null, null, 0, Instant.EPOCH);
    }

    private static final class Inspector implements QueueInspector {

        private final List<Partition> reads = new ArrayList<>();

        private CompletableFuture<PartitionCounts> answer = CompletableFuture
            .completedFuture(StatisticsCacheTests.counts(7));

        private @Nullable QueueName failing;

        @Override
        public CompletableFuture<PartitionCounts> counts(Partition partition) {
            this.reads.add(partition);
            return partition.queue().equals(this.failing)
                    ? CompletableFuture.failedFuture(new IllegalStateException("away")) : this.answer;
        }

        @Override
        public CompletableFuture<DueForecast> dueForecast(Partition partition) {
            throw new AssertionError("Must not be called");
        }

        @Override
        public CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageSelection listing,
                @Nullable MessageCursor after, int limit) {
            throw new AssertionError("Must not be called");
        }

        @Override
        public CompletableFuture<DueCounts> dueCounts(Partition partition, List<Instant> ends) {
            throw new AssertionError("Must not be called");
        }

        @Override
        public CompletableFuture<MessageScanPage> scan(Partition partition, ScanSelection selection, String idPrefix,
                @Nullable String cursor) {
            throw new AssertionError("Must not be called");
        }

        @Override
        public CompletableFuture<RetryingStep> countRetrying(Partition partition, @Nullable String cursor) {
            throw new AssertionError("Must not be called");
        }

        @Override
        public CompletableFuture<LocatedId> locate(Partition partition, String id, @Nullable String cursor) {
            throw new AssertionError("Must not be called");
        }

        @Override
        public CompletableFuture<DeadLetterSummaryPage> deadLetterSummaries(Partition partition,
                @Nullable String cursor, int limit) {
            throw new AssertionError("Must not be called");
        }

    }

}
