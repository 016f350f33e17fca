package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.routing.PartitionLayouts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests that the messages of all partitions are counted, within a limited time.
 */
class BacklogCounterTests {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:30Z");

    private final ManualNanoClock clock = new ManualNanoClock();

    private final QueueInspector inspector = mock();

    private final PartitionLayouts layouts = mock();

    private final BacklogCounter counter = new BacklogCounter(this.inspector, this.layouts, this.clock);

    @BeforeEach
    void haveOnePartition() {
        given(this.layouts.of(any())).willReturn(CompletableFuture.completedFuture(PartitionLayout.ONE));
        given(this.layouts.each(any(), any(), any())).willCallRealMethod();
    }

    private static PartitionCounts counts(int version) {
        return new PartitionCounts(9, 3, 1, 2, 0, 4, null, null, version, NOW);
    }

    /** Another node has changed their number. */
    @Test
    void countsThePartitionsOfALaterLayout() {
        given(this.layouts.read(new QueueName("a")))
            .willReturn(CompletableFuture.completedFuture(new PartitionLayout(2, List.of(1, 3), true)));
        given(this.inspector.counts(any())).willReturn(CompletableFuture.completedFuture(counts(2)));

        assertThat(this.counter.count(List.of("a")).join()).isEqualTo(Map.of("a", new Backlog(9, 6, 27, 12)));
    }

    /** A blocking client answers each call before the next one is made. */
    @Test
    void stopsAfterTheLimit() {
        given(this.inspector.counts(any())).willAnswer((call) -> {
            this.clock.advance(Duration.ofSeconds(1));
            return CompletableFuture.completedFuture(counts(0));
        });

        List<String> queues = IntStream.range(0, 200).mapToObj((i) -> "q" + i).toList();
        assertThat(this.counter.count(queues).join()).hasSize((int) BacklogCounter.LIMIT.toSeconds() + 1);
    }

}
