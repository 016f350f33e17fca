package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DueHistogram;
import io.delayqueue.admin.DueHistogram.Bin;
import io.delayqueue.store.DueCounts;

/**
 * Holds the bins of a {@link DueHistogram}, and fills them from the counts of partitions.
 *
 * @param minutes the beginnings of the minutes, and the end of the last one
 * @param hours those of the hours
 * @param days those of the spans of 24 hours
 */
record DueBins(List<Instant> minutes, List<Instant> hours, List<Instant> days) {

    private static final int MINUTES = 60;

    private static final int HOURS = 24;

    private static final int DAYS = 14;

    static DueBins from(Instant now) {
        Instant hour = now.truncatedTo(ChronoUnit.HOURS);
        return new DueBins(times(now.truncatedTo(ChronoUnit.MINUTES), Duration.ofMinutes(1), MINUTES),
                times(hour, Duration.ofHours(1), HOURS), times(hour, Duration.ofDays(1), DAYS));
    }

    private static List<Instant> times(Instant begin, Duration span, int count) {
        return IntStream.rangeClosed(0, count).mapToObj((i) -> begin.plus(span.multipliedBy(i))).toList();
    }

    /**
     * Returns the last millisecond of each bin, as a due time at its end is the next
     * one's.
     */
    List<Instant> ends() {
        List<Instant> ends = new ArrayList<>();
        for (List<Instant> series : List.of(this.minutes, this.hours, this.days)) {
            series.stream().skip(1).forEach((end) -> ends.add(end.minusMillis(1)));
        }
        return ends;
    }

    /** Adds up the counts of all partitions. */
    DueHistogram histogram(QueueName queue, List<DueCounts> parts) {
        long due = parts.stream().mapToLong(DueCounts::due).sum();
        long[] until = IntStream.range(0, MINUTES + HOURS + DAYS)
            .mapToLong((i) -> parts.stream().mapToLong((part) -> part.until().get(i)).sum())
            .toArray();
        long scheduled = parts.stream().mapToLong(DueCounts::scheduled).sum();
        return new DueHistogram(queue.value(), parts.stream().map(DueCounts::now).max(Instant::compareTo).orElseThrow(),
                due, bins(this.minutes, until, 0, due), bins(this.hours, until, MINUTES, due),
                bins(this.days, until, MINUTES + HOURS, due), scheduled - until[until.length - 1],
                parts.stream().mapToLong(DueCounts::waitingInGroup).sum());
    }

    private static List<Bin> bins(List<Instant> times, long[] until, int first, long due) {
        List<Bin> bins = new ArrayList<>();
        long before = due;
        for (int i = 0; i + 1 < times.size(); i++) {
            long here = until[first + i];
            bins.add(new Bin(times.get(i), times.get(i + 1), here - before));
            before = here;
        }
        return bins;
    }

}
