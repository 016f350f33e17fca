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
 * Holds the counts of a partition; {@link QueueOverview} describes each of them.
 *
 * @param scheduled messages that wait
 * @param due scheduled messages that are due
 * @param waitingInGroup scheduled messages that wait in their group
 * @param leased in-flight messages
 * @param lapsed lapses that no claim has found yet
 * @param dead dead letters
 * @param nextDueAt the earliest due time; {@code null} if no message waits
 * @param pause the current pause of the partition; {@code null} if it is not paused
 * @param version the version of the {@link PartitionLayout} recorded in it; 0 for none
 * @param now the time on its master
 */
public record PartitionCounts(long scheduled, long due, long waitingInGroup, long leased, long lapsed, long dead,
        @Nullable Instant nextDueAt, @Nullable Pause pause, int version, Instant now) {

    /**
     * Adds up the counts of a queue. The queue is paused if all of its partitions are: a
     * partition without the recorded pause still hands out messages.
     * @param partitions the counts of all partitions, beginning with the first one, whose
     * pause is authoritative
     */
    public static QueueOverview overview(QueueName queue, List<PartitionCounts> partitions) {
        boolean paused = partitions.stream().allMatch((partition) -> partition.pause() != null);
        Pause pause = paused ? partitions.get(0).pause() : null;
        return new QueueOverview(queue.value(), partitions.size(), sum(partitions, PartitionCounts::scheduled),
                sum(partitions, PartitionCounts::due), sum(partitions, PartitionCounts::waitingInGroup),
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

    /**
     * Returns the value on the clock of its own master, because the clocks of masters may
     * differ.
     */
    private @Nullable Duration oldestDue() {
        return (this.nextDueAt == null || this.nextDueAt.isAfter(this.now)) ? null
                : Duration.between(this.nextDueAt, this.now);
    }

}
