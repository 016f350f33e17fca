package io.delayqueue.web.dashboard;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Caches the schedules of all queues that are due next. The store is queried at most
 * every ten seconds, by one thread; other requests wait for its result. Thread-safe.
 */
final class ScheduleOverviewCache {

    /** Schedules that are read of each queue. */
    static final int MAX_OF_QUEUE = 20;

    static final int MAX_SCHEDULES = 200;

    private static final long MAX_AGE = TimeUnit.SECONDS.toNanos(10);

    private final DelayQueueOperations operations;

    private final OccurrenceOutcomes outcomes;

    private final LongSupplier nanoTime;

    private @Nullable Schedules latest;

    ScheduleOverviewCache(DelayQueueOperations operations, OccurrenceOutcomes outcomes, LongSupplier nanoTime) {
        this.operations = operations;
        this.outcomes = outcomes;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the schedules.
     * @param queues the names of all queues
     */
    synchronized Schedules get(List<String> queues) {
        Schedules known = this.latest;
        if (known == null || age(known) >= MAX_AGE) {
            known = read(queues);
            this.latest = known;
        }
        return known;
    }

    /** Discards what was read. */
    synchronized void clear() {
        this.latest = null;
    }

    /** Returns how long ago schedules were read, in nanoseconds. */
    long age(Schedules read) {
        return this.nanoTime.getAsLong() - read.readAt();
    }

    /** Leaves out queues that cannot be read, unless the whole store is away. */
    private Schedules read(List<String> queues) {
        List<ScheduleStatus> found = new ArrayList<>();
        List<String> more = new ArrayList<>();
        List<String> unread = new ArrayList<>();
        for (String queue : queues) {
            try {
                SchedulePage page = this.operations.schedules(queue).list(null, MAX_OF_QUEUE);
                found.addAll(page.schedules());
                if (page.nextCursor() != null) {
                    more.add(queue);
                }
            }
            catch (StoreUnavailableException ex) {
                throw ex;
            }
            catch (DelayQueueException ex) {
                unread.add(queue);
            }
        }
        found.sort(Comparator.comparing(ScheduleOverviewCache::next));
        List<ScheduleStatus> shown = found.subList(0, Math.min(MAX_SCHEDULES, found.size()));
        found.subList(shown.size(), found.size())
            .stream()
            .map(ScheduleStatus::queue)
            .distinct()
            .filter((queue) -> !more.contains(queue))
            .forEach(more::add);
        return new Schedules(withOutcomes(shown), List.copyOf(more), List.copyOf(unread), this.nanoTime.getAsLong());
    }

    private static Instant next(ScheduleStatus schedule) {
        return (schedule.nextAt() != null) ? schedule.nextAt() : Instant.MAX;
    }

    private List<Entry> withOutcomes(List<ScheduleStatus> schedules) {
        Map<String, Map<String, OccurrenceOutcome>> byQueue = new HashMap<>();
        schedules.stream()
            .collect(Collectors.groupingBy(ScheduleStatus::queue))
            .forEach((queue, some) -> byQueue.put(queue, this.outcomes.find(queue, some)));
        return schedules.stream()
            .map((one) -> new Entry(one, byQueue.getOrDefault(one.queue(), Map.of()).get(one.name())))
            .toList();
    }

    /**
     * Holds the schedules that are due next.
     *
     * @param entries the schedules, the one that is due next first
     * @param more the queues that have further schedules
     * @param unread the queues that could not be read
     * @param readAt when they were read, by {@code nanoTime}
     */
    record Schedules(List<Entry> entries, List<String> more, List<String> unread, long readAt) {
    }

    /**
     * Holds a schedule.
     *
     * @param schedule the schedule
     * @param outcome what became of its last occurrence; {@code null} if none was sent
     */
    record Entry(ScheduleStatus schedule, @Nullable OccurrenceOutcome outcome) {
    }

}
