package io.delayqueue.web.dashboard;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * Caches the schedules of all queues that are due next. Reads the queues one after
 * another, at most every ten seconds, and for 200 ms of a request; the next request
 * continues. Thread-safe.
 */
final class ScheduleOverviewCache {

    /** Schedules that are read of each queue. */
    static final int MAX_OF_QUEUE = 20;

    static final int MAX_SCHEDULES = 200;

    private static final long MAX_AGE = TimeUnit.SECONDS.toNanos(10);

    private static final long PART = TimeUnit.MILLISECONDS.toNanos(200);

    private final DelayQueueOperations operations;

    private final OccurrenceOutcomes outcomes;

    private final LongSupplier nanoTime;

    private @Nullable Schedules latest;

    private @Nullable Reading reading;

    ScheduleOverviewCache(DelayQueueOperations operations, OccurrenceOutcomes outcomes, LongSupplier nanoTime) {
        this.operations = operations;
        this.outcomes = outcomes;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the schedules: those that were read last, or those of the first queues if
     * no read has ended yet.
     * @param queues the names of all queues
     */
    synchronized Schedules get(List<String> queues) {
        Schedules known = this.latest;
        if (known != null && this.reading == null && age(known) < MAX_AGE) {
            return known;
        }
        long begin = this.nanoTime.getAsLong();
        Reading current = (this.reading != null && begin - this.reading.continuedAt < MAX_AGE) ? this.reading
                : new Reading(queues, begin);
        this.reading = null;
        while (current.isUnfinished() && this.nanoTime.getAsLong() - begin < PART) {
            current.readNext();
        }
        if (current.isUnfinished()) {
            current.continuedAt = this.nanoTime.getAsLong();
            this.reading = current;
            return (known != null) ? known.reading(current.left()) : current.result(false);
        }
        Schedules read = current.result(true);
        this.latest = read;
        return read;
    }

    /** Discards what was read. */
    synchronized void clear() {
        this.latest = null;
        this.reading = null;
    }

    /** Returns how long ago the read of schedules began, in nanoseconds. */
    long age(Schedules read) {
        return this.nanoTime.getAsLong() - read.readAt();
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

    /** Reads the queues one after another. Guarded by the cache. */
    private final class Reading {

        private final List<String> queues;

        private final List<ScheduleStatus> found = new ArrayList<>();

        private final Set<String> more = new LinkedHashSet<>();

        private final List<String> unread = new ArrayList<>();

        private final long begunAt;

        /**
         * When a request last ended its part. A read that no request continues is
         * dropped.
         */
        private long continuedAt;

        private int next;

        Reading(List<String> queues, long begunAt) {
            this.queues = queues;
            this.begunAt = begunAt;
            this.continuedAt = begunAt;
        }

        boolean isUnfinished() {
            return this.next < this.queues.size();
        }

        int left() {
            return this.queues.size() - this.next;
        }

        /** Leaves out a queue that cannot be read, unless the whole store is away. */
        void readNext() {
            String queue = this.queues.get(this.next);
            try {
                SchedulePage page = ScheduleOverviewCache.this.operations.schedules(queue).list(null, MAX_OF_QUEUE);
                this.found.addAll(page.schedules());
                if (page.nextCursor() != null) {
                    this.more.add(queue);
                }
            }
            catch (StoreUnavailableException ex) {
                throw ex;
            }
            catch (DelayQueueException ex) {
                this.unread.add(queue);
            }
            this.next++;
        }

        /**
         * Returns what was read.
         * @param complete whether to add the outcomes
         */
        Schedules result(boolean complete) {
            List<ScheduleStatus> sorted = new ArrayList<>(this.found);
            sorted.sort(Comparator.comparing(ScheduleOverviewCache::next));
            List<ScheduleStatus> shown = sorted.subList(0, Math.min(MAX_SCHEDULES, sorted.size()));
            Set<String> withMore = new LinkedHashSet<>(this.more);
            sorted.subList(shown.size(), sorted.size()).forEach((one) -> withMore.add(one.queue()));
            List<Entry> entries = complete ? withOutcomes(shown)
                    : shown.stream().map((one) -> new Entry(one, null)).toList();
            return new Schedules(entries, List.copyOf(withMore), List.copyOf(this.unread), left(),
                    this.begunAt);
        }

    }

    /**
     * Holds the schedules that are due next.
     *
     * @param entries the schedules, the one that is due next first
     * @param more the queues that have further schedules
     * @param unread the queues that could not be read
     * @param left how many queues the current read has still to read
     * @param readAt when their read began, by {@code nanoTime}
     */
    record Schedules(List<Entry> entries, List<String> more, List<String> unread, int left, long readAt) {

        private Schedules reading(int left) {
            return new Schedules(this.entries, this.more, this.unread, left, this.readAt);
        }

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
