package io.delayqueue.store;

import java.time.Instant;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the sum of the counts of partitions. */
class PartitionCountsTests {

    private static final Pause PAUSE = new Pause(Instant.ofEpochSecond(60));

    @Test
    void aQueueIsPausedIfAllOfItsPartitionsAre() {
        assertThat(overview(PAUSE, PAUSE).paused()).isTrue();
        assertThat(overview(PAUSE, PAUSE).pausedUntil()).isEqualTo(Instant.ofEpochSecond(60));
        assertThat(overview(PAUSE, null).paused()).isFalse();
        assertThat(overview(PAUSE, null).pausedUntil()).isNull();
        assertThat(overview(null, PAUSE).paused()).isFalse();
    }

    private static QueueOverview overview(@Nullable Pause first, @Nullable Pause second) {
        return PartitionCounts.overview(new QueueName("q"), List.of(counts(first), counts(second)));
    }

    private static PartitionCounts counts(@Nullable Pause pause) {
        return new PartitionCounts(0, 0, 0, 0, 0, 0, null, pause, 1, Instant.EPOCH);
    }

}
