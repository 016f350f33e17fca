package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import org.jspecify.annotations.Nullable;

/**
 * What a partition holds; {@link QueueOverview} says what each count is.
 *
 * @param scheduled that wait
 * @param due of them
 * @param followers of them
 * @param leased to workers
 * @param lapsed that nobody has noticed
 * @param dead dead letters
 * @param nextDueAt when the first of those that wait is due; {@code null} if none does
 * @param pause that the partition is paused, if that is not over
 * @param version of the {@link PartitionLayout} that it has recorded; 0 for none
 * @param now the time of its master
 */
public record PartitionCounts(long scheduled, long due, long followers, long leased, long lapsed, long dead,
        @Nullable Instant nextDueAt, @Nullable Pause pause, int version, Instant now) {

    /**
     * All of a queue together. It is paused if all of its partitions are: one that has
     * lost its record, or not heard yet, hands out messages.
     * @param partitions of the queue, the first one first, as that has the truth
     */
    public static QueueOverview overview(QueueName queue, List<PartitionCounts> partitions) {
        boolean paused = partitions.stream().allMatch((partition) -> partition.pause() != null);
        Pause pause = paused ? partitions.get(0).pause() : null;
        return new QueueOverview(queue.value(), partitions.size(), sum(partitions, PartitionCounts::scheduled),
                sum(partitions, PartitionCounts::due), sum(partitions, PartitionCounts::followers),
                sum(partitions, PartitionCounts::leased), sum(partitions, PartitionCounts::lapsed),
                sum(partitions, PartitionCounts::dead),
                partitions.stream()
                    .map(PartitionCounts::nextDueAt)
                    .filter(Objects::nonNull)
                    .min(Instant::compareTo)
                    .orElse(null),
                partitions.stream()
                    .map(PartitionCounts::oldestDue)
                    .filter(Objects::nonNull)
                    .max(Duration::compareTo)
                    .orElse(null),
                pause != null, (pause != null) ? pause.until() : null,
                partitions.stream().map(PartitionCounts::now).max(Instant::compareTo).orElseThrow());
    }

    private static long sum(List<PartitionCounts> partitions, ToLongFunction<PartitionCounts> count) {
        return partitions.stream().mapToLong(count).sum();
    }

    /** By the clock of its own master; those of others may differ. */
    private @Nullable Duration oldestDue() {
        return (this.nextDueAt == null || this.nextDueAt.isAfter(this.now)) ? null
                : Duration.between(this.nextDueAt, this.now);
    }

}
