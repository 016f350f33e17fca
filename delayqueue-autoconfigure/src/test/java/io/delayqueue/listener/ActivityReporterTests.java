package io.delayqueue.listener;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.LatenessClasses;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.routing.PartitionLayouts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests that a node reports each handler start once, whatever answers of the store are
 * late or lost.
 */
class ActivityReporterTests {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:30Z");

    private final ManualNanoClock clock = new ManualNanoClock();

    private final Map<String, long[]> started = new LinkedHashMap<>();

    private final Map<String, Long> failed = new LinkedHashMap<>();

    private final ListenerContainer listener = mock();

    private final QueueInspector inspector = mock();

    private final PartitionLayouts layouts = mock();

    private final Store store = new Store();

    private final ActivityReporter reporter = new ActivityReporter(this.store, () -> List.of(this.listener),
            new BacklogCounter(this.inspector, this.layouts, this.clock), this.clock);

    @BeforeEach
    void listen() {
        given(this.listener.latenessClasses()).willReturn(this.started);
        given(this.listener.failures()).willReturn(this.failed);
        given(this.layouts.of(any())).willReturn(CompletableFuture.completedFuture(PartitionLayout.ONE));
        given(this.layouts.each(any(), any(), any())).willCallRealMethod();
    }

    private void start(String queue, long micros, long count) {
        this.started.computeIfAbsent(queue, (name) -> new long[LatenessClasses.COUNT])[LatenessClasses
            .of(micros)] += count;
    }

    /**
     * Returns the class of lateness or the failures, and the count, of those that are not
     * zero.
     */
    private static Map<Integer, Long> counts(ActivityReport report, String queue) {
        Map<Integer, Long> counts = new TreeMap<>();
        long[] all = report.counts().get(queue);
        for (int i = 0; i < all.length; i++) {
            if (all[i] > 0) {
                counts.put(i, all[i]);
            }
        }
        return counts;
    }

    private ActivityReport report() {
        int before = this.store.reports.size();
        this.clock.advance(NodeHeartbeat.PERIOD);
        this.reporter.report();
        assertThat(this.store.reports).hasSize(before + 1);
        return this.store.reports.get(before);
    }

    @Test
    void reportsWhatHandlersDidSinceTheLastReport() {
        start("a", 20_000, 3);
        start("a", 20_001, 2);
        start("a", Long.MAX_VALUE, 1);
        this.failed.put("a", 4L);
        assertThat(counts(report(), "a")).isEqualTo(Map.of(0, 3L, 1, 2L, 12, 1L, ActivityReport.FAILED, 4L));
        start("a", 20_000, 1);
        start("b", 1_000_000, 1);

        ActivityReport second = report();
        assertThat(counts(second, "a")).isEqualTo(Map.of(0, 1L));
        assertThat(counts(second, "b")).isEqualTo(Map.of(5, 1L));
        assertThat(second.number()).isEqualTo(2);
    }

    @Test
    void anIdleNodeReportsOnlyThatItRuns() {
        start("a", 1, 1);
        report();

        assertThat(report().counts()).isEmpty();
    }

    @Test
    void remindsTheStoreOfAQueueWithoutHandlerStarts() {
        start("a", 1, 1);
        report();
        this.clock.advance(ActivityReporter.REMINDER);

        assertThat(counts(report(), "a")).isEmpty();
    }

    @Test
    void sendsAReportWithoutAnAnswerAgainUnchanged() {
        this.store.next = CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.UNKNOWN, null));
        start("a", 1, 1);
        ActivityReport first = report();
        start("a", 1, 7);
        this.store.next = null;

        ActivityReport second = report();
        assertThat(second.number()).isEqualTo(first.number());
        assertThat(counts(second, "a")).isEqualTo(Map.of(0, 1L));
        assertThat(first.followsAnOutage()).isFalse();
        assertThat(second.unanswered()).isEqualTo(NodeHeartbeat.PERIOD);
        ActivityReport third = report();
        assertThat(third.number()).isEqualTo(2);
        assertThat(counts(third, "a")).isEqualTo(Map.of(0, 7L));
        assertThat(third.followsAnOutage()).isFalse();
    }

    @Test
    void waitsForTheAnswerBeforeItSendsAnother() {
        CompletableFuture<ActivityStore.Reply> answer = new CompletableFuture<>();
        this.store.next = answer;
        start("a", 1, 1);
        report();
        start("a", 1, 1);
        this.reporter.report();
        assertThat(this.store.reports).hasSize(1);
        this.store.next = null;
        answer.complete(new ActivityStore.Reply(List.of(), NOW, List.of()));

        assertThat(counts(report(), "a")).isEqualTo(Map.of(0, 1L));
    }

    @Test
    void reportsQueuesWithoutAPlaceTogether() {
        this.store.leftOut = List.of("b", "c");
        List.of("a", "b", "c").forEach((queue) -> start(queue, 1, 1));
        report();
        List.of("a", "b", "c").forEach((queue) -> start(queue, 1, 2));

        ActivityReport second = report();
        assertThat(second.counts()).containsOnlyKeys("a", ActivityReport.OTHERS);
        assertThat(counts(second, ActivityReport.OTHERS)).isEqualTo(Map.of(0, 4L));
        this.clock.advance(ActivityReporter.REMINDER);
        assertThat(report().counts()).containsOnlyKeys("a", "b", "c");
    }

    @Test
    void reportsManyQueuesInParts() {
        IntStream.range(0, 120).forEach((i) -> start("q" + i, 1, 1));
        this.reporter.report();

        assertThat(this.store.reports).extracting((report) -> report.counts().size()).containsExactly(50, 50, 20);
        assertThat(this.store.reports.stream().flatMap((report) -> report.counts().keySet().stream())).hasSize(120)
            .doesNotHaveDuplicates();
    }

    @Test
    void reportsEachOfManyBusyQueuesOnceARound() {
        IntStream.range(0, 60).forEach((i) -> start("q" + i, 1, 1));
        this.store.meanwhile = () -> {
            if (this.store.reports.size() < 10) {
                IntStream.range(0, 60).forEach((i) -> start("q" + i, 1, 1));
            }
        };
        this.reporter.report();
        assertThat(this.store.reports).extracting((report) -> report.counts().size()).containsExactly(50, 10);
        this.clock.advance(NodeHeartbeat.PERIOD);
        this.reporter.report();

        assertThat(this.store.reports).extracting((report) -> report.counts().size()).containsExactly(50, 10, 50, 10);
        assertThat(counts(this.store.reports.get(2), "q0")).isEqualTo(Map.of(0, 2L));
        assertThat(counts(this.store.reports.get(3), "q59")).isEqualTo(Map.of(0, 2L));
    }

    @Test
    void aRemovedListenerReportsNothingNegative() {
        start("a", 1, 5);
        report();
        this.started.clear();
        start("a", 1, 2);
        start("a", 20_001, 1);

        long[] counts = report().counts().get("a");
        assertThat(counts[0]).isZero();
        assertThat(counts[1]).isEqualTo(1);
        start("a", 1, 2);
        assertThat(counts(report(), "a")).isEqualTo(Map.of(0, 2L));
    }

    @Test
    void countsMessagesWhenItIsAskedTo() {
        given(this.inspector.counts(any()))
            .willReturn(CompletableFuture.completedFuture(new PartitionCounts(9, 3, 1, 2, 0, 4, null, null, 0, NOW)));
        this.store.toCount = List.of("a", "b");
        this.reporter.report();

        Backlog backlog = new Backlog(3, 2, 9, 4);
        assertThat(this.store.recorded).isEqualTo(Map.of("a", backlog, "b", backlog));
        assertThat(this.store.complete).isTrue();
    }

    @Test
    void leavesOutQueuesThatCannotBeCounted() {
        given(this.inspector.counts(any()))
            .willReturn(CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null)))
            .willReturn(CompletableFuture.completedFuture(new PartitionCounts(0, 0, 0, 0, 0, 0, null, null, 0, NOW)));
        this.store.toCount = List.of("a", "b");
        this.reporter.report();

        assertThat(this.store.recorded).isEqualTo(Map.of("b", new Backlog(0, 0, 0, 0)));
        assertThat(this.store.complete).isFalse();
    }

    /** Remembers what it gets. */
    private static final class Store implements ActivityStore {

        private final List<ActivityReport> reports = new ArrayList<>();

        private @Nullable CompletableFuture<Reply> next;

        private Runnable meanwhile = () -> {
        };

        private List<String> leftOut = List.of();

        private List<String> toCount = List.of();

        private Map<String, Backlog> recorded = Map.of();

        private boolean complete;

        @Override
        public CompletableFuture<Reply> report(ActivityReport report) {
            this.reports.add(report);
            this.meanwhile.run();
            return (this.next != null) ? this.next
                    : CompletableFuture.completedFuture(new Reply(this.leftOut, NOW, this.toCount));
        }

        @Override
        public CompletableFuture<Void> record(Instant minute, Map<String, Backlog> backlogs, boolean complete) {
            assertThat(minute).isEqualTo(NOW);
            this.recorded = backlogs;
            this.complete = complete;
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<QueueActivity> read(@Nullable String queue) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Map<String, long[]>> lateness() {
            throw new UnsupportedOperationException();
        }

    }

}
