package io.delayqueue.web.dashboard;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Caches the schedules that fire next, over all queues. Reads the queues one after
 * another, then the outcomes of what is shown, at most every ten seconds, and for 200 ms
 * of a request; the next request continues.
 * <p>
 * <strong>Threads.</strong> Those of requests. One of them reads, and the others wait for
 * its part, but no longer than 200 ms. The lock guards which read is under way, not the
 * calls of the store.
 */
final class ScheduleOverviewCache {

    /** Schedules that are read of each queue. */
    static final int MAX_OF_QUEUE = 20;

    static final int MAX_SCHEDULES = 200;

    private static final long MAX_AGE = TimeUnit.SECONDS.toNanos(10);

    private static final long PART = TimeUnit.MILLISECONDS.toNanos(200);

    private final DelayQueueOperations operations;

    private final OccurrenceStatusFinder outcomes;

    private final LongSupplier nanoTime;

    /** Result of the last complete read. Guarded by the cache. */
    private @Nullable Schedules latest;

    /** The read that is not complete. Guarded by the cache. */
    private @Nullable Reading reading;

    ScheduleOverviewCache(DelayQueueOperations operations, OccurrenceStatusFinder outcomes, LongSupplier nanoTime) {
        this.operations = operations;
        this.outcomes = outcomes;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the schedules: those that were read last, or those of the first queues if
     * no read has ended yet. If the store does not answer, the last known ones are
     * returned.
     * @param queues the names of all queues
     * @throws DelayQueueException if the store cannot be read and no schedules are known
     */
    Schedules get(List<String> queues) {
        Schedules known;
        Reading current;
        CompletableFuture<Schedules> part;
        boolean reads;
        synchronized (this) {
            known = this.latest;
            if (known != null && this.reading == null && age(known) < MAX_AGE) {
                return known;
            }
            current = current(queues);
            reads = current.part.isDone();
            if (reads) {
                current.part = new CompletableFuture<>();
            }
            part = current.part;
        }
        if (reads) {
            read(current, part);
        }
        try {
            return part.get(PART, TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException ex) {
            if (known != null && ex.getCause() instanceof DelayQueueException) {
                return known;
            }
            throw (ex.getCause() instanceof RuntimeException failure) ? failure : new IllegalStateException(ex);
        }
        catch (TimeoutException ex) {
            return known(current);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return known(current);
        }
    }

    /** Returns the read to continue. Drops one that no request has continued. */
    private Reading current(List<String> queues) {
        long now = this.nanoTime.getAsLong();
        Reading current = this.reading;
        if (current == null || (current.part.isDone() && now - current.continuedAt >= MAX_AGE)) {
            current = new Reading(queues, now);
            this.reading = current;
        }
        return current;
    }

    /** Reads a part; no other request reads before it has ended. */
    private void read(Reading current, CompletableFuture<Schedules> part) {
        try {
            part.complete(ended(current, current.readPart()));
        }
        catch (Throwable ex) {
            drop(current);
            part.completeExceptionally(ex);
        }
    }

    private synchronized Schedules ended(Reading current, Schedules read) {
        current.read = read;
        current.continuedAt = this.nanoTime.getAsLong();
        if (read.left() > 0) {
            return known(current);
        }
        if (this.reading == current) { // not cleared meanwhile
            this.latest = read;
            this.reading = null;
        }
        return read;
    }

    private synchronized void drop(Reading current) {
        if (this.reading == current) {
            this.reading = null;
        }
    }

    /** Returns what to show while a read is not complete. */
    private synchronized Schedules known(Reading current) {
        Schedules known = this.latest;
        return (known != null) ? known.reading(current.read.left()) : current.read;
    }

    /**
     * Discards what was read. Does not wait for a read under way, whose result is not
     * kept.
     */
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

    /**
     * Reads the queues one after another, then the outcomes of the schedules that are
     * shown. One thread at a time uses it.
     */
    private final class Reading {

        private final List<String> queues;

        private final List<ScheduleStatus> found = new ArrayList<>();

        private final Set<String> more = new LinkedHashSet<>();

        private final List<String> unread = new ArrayList<>();

        private final long begunAt;

        private int next;

        /** Schedules by queue whose outcomes are still to be read. */
        private final Deque<Map.Entry<String, List<ScheduleStatus>>> open = new ArrayDeque<>();

        private final Map<String, Map<String, OccurrenceStatus>> outcomesByQueue = new HashMap<>();

        /** Result of the current or last part. Guarded by the cache. */
        private CompletableFuture<Schedules> part;

        /** The schedules that the finished parts have read. Guarded by the cache. */
        private Schedules read;

        /**
         * When a part last ended. A read that no request continues is dropped. Guarded by
         * the cache.
         */
        private long continuedAt;

        Reading(List<String> queues, long begunAt) {
            this.queues = queues;
            this.begunAt = begunAt;
            this.continuedAt = begunAt;
            this.read = new Schedules(List.of(), List.of(), List.of(), queues.size(), begunAt);
            this.part = CompletableFuture.completedFuture(this.read);
        }

        private int left() {
            return this.queues.size() - this.next + this.open.size();
        }

        Schedules readPart() {
            LongSupplier nanoTime = ScheduleOverviewCache.this.nanoTime;
            long begin = nanoTime.getAsLong();
            while (left() > 0 && nanoTime.getAsLong() - begin < PART) {
                readNext();
            }
            return result();
        }

        private void readNext() {
            Map.Entry<String, List<ScheduleStatus>> withoutOutcomes = this.open.poll();
            if (withoutOutcomes != null) {
                readOutcomes(withoutOutcomes.getKey(), withoutOutcomes.getValue());
                return;
            }
            readSchedules(this.queues.get(this.next));
            this.next++;
            if (this.next == this.queues.size()) {
                this.open.addAll(sent(shown(sorted())).entrySet());
            }
        }

        /** Leaves out a queue that cannot be read, unless the whole store is away. */
        private void readSchedules(String queue) {
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
        }

        /** Leaves out the outcomes of a queue that cannot be read, like its schedules. */
        private void readOutcomes(String queue, List<ScheduleStatus> schedules) {
            try {
                this.outcomesByQueue.put(queue, ScheduleOverviewCache.this.outcomes.find(queue, schedules));
            }
            catch (StoreUnavailableException ex) {
                throw ex;
            }
            catch (DelayQueueException ex) {
                this.outcomesByQueue.put(queue, Map.of());
            }
        }

        private List<ScheduleStatus> sorted() {
            return this.found.stream().sorted(Comparator.comparing(ScheduleOverviewCache::next)).toList();
        }

        private static List<ScheduleStatus> shown(List<ScheduleStatus> sorted) {
            return sorted.subList(0, Math.min(MAX_SCHEDULES, sorted.size()));
        }

        /** Returns those that have sent an occurrence, by queue. */
        private static Map<String, List<ScheduleStatus>> sent(List<ScheduleStatus> schedules) {
            return schedules.stream()
                .filter((one) -> one.lastAt() != null)
                .collect(Collectors.groupingBy(ScheduleStatus::queue, LinkedHashMap::new, Collectors.toList()));
        }

        private Schedules result() {
            List<ScheduleStatus> sorted = sorted();
            List<ScheduleStatus> shown = shown(sorted);
            Set<String> withMore = new LinkedHashSet<>(this.more);
            sorted.subList(shown.size(), sorted.size()).forEach((one) -> withMore.add(one.queue()));
            List<Entry> entries = shown.stream().map((one) -> new Entry(one, outcome(one))).toList();
            return new Schedules(entries, List.copyOf(withMore), List.copyOf(this.unread), left(), this.begunAt);
        }

        private @Nullable OccurrenceStatus outcome(ScheduleStatus one) {
            return this.outcomesByQueue.getOrDefault(one.queue(), Map.of()).get(one.name());
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
     * @param outcome what became of its last occurrence; {@code null} if none was sent,
     * or if it was not read
     */
    record Entry(ScheduleStatus schedule, @Nullable OccurrenceStatus outcome) {
    }

}
