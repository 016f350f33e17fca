package io.delayqueue.actuator;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caches the counts of this node's queues. Reads never block: they return the last known
 * counts, and start at most one refresh at a time, with one call per partition, when
 * those are stale.
 * <p>
 * <strong>Threads.</strong> Any may read; replies arrive on threads of the store's
 * connection.
 */
public final class StatisticsCache {

    private static final Logger logger = LoggerFactory.getLogger(StatisticsCache.class);

    /** Queried if there are no queues: nothing is ever stored there. */
    private static final QueueName NONE = new QueueName("none");

    /** Older counts are discarded once a refresh takes longer than this. */
    static final Duration MAX_REFRESH_TIME = Duration.ofSeconds(30);

    /** Age limit if some queue did not answer, because it may answer by now. */
    static final Duration RETRY = Duration.ofSeconds(1);

    private final QueueInspector inspector;

    private final PartitionLayouts partitions;

    /** Whether calls block until they are answered. */
    private final boolean waits;

    private final Supplier<List<QueueName>> queues;

    private final Duration maxAge;

    private final LongSupplier nanoTime;

    /** Runs each blocking call on a thread of its own. */
    private final Executor caller;

    private final AtomicReference<Refresh> latest;

    /** When the store answered last; {@code null} before it has. */
    private volatile @Nullable Long answeredAt;

    private volatile @Nullable Throwable lastFailure;

    private final Object reaching = new Object();

    /**
     * The last blocking check; only one at a time, so that hanging ones do not pile up.
     */
    private CompletableFuture<?> reach = CompletableFuture.completedFuture(null);

    /**
     * Creates a cache that has read nothing yet.
     * @param inspector counts
     * @param components of the same store
     * @param queues the queues to read, called for each refresh
     * @param maxAge age at which counts are refreshed
     * @param nanoTime the monotonic clock
     */
    public StatisticsCache(QueueInspector inspector, StoreComponents components, Supplier<List<QueueName>> queues,
            Duration maxAge, LongSupplier nanoTime) {
        this(inspector, components, queues, maxAge, nanoTime,
                (call) -> DaemonThreads.start(call, "delayqueue-statistics"));
    }

    /** Creates a cache whose blocking calls run on an executor. */
    StatisticsCache(QueueInspector inspector, StoreComponents components, Supplier<List<QueueName>> queues,
            Duration maxAge, LongSupplier nanoTime, Executor caller) {
        this.caller = caller;
        this.inspector = inspector;
        this.partitions = components.partitions();
        this.waits = components.messages().isBlocking();
        this.queues = queues;
        this.maxAge = maxAge;
        this.nanoTime = nanoTime;
        this.latest = new AtomicReference<>(new Refresh(Map.of(), nanoTime.getAsLong() - maxAge.toNanos(),
                CompletableFuture.completedFuture(Map.of()), true, Set.of()));
    }

    /**
     * Returns the counts of a queue; {@code null} if unknown, for instance while the
     * store does not answer.
     */
    @Nullable QueueOverview of(QueueName queue) {
        refresh();
        return known(MAX_REFRESH_TIME).get(queue);
    }

    /** Runs {@link #refresh(Duration)} with the age limit of a scrape. */
    CompletableFuture<Map<QueueName, QueueOverview>> refresh() {
        return refresh(this.maxAge);
    }

    /**
     * Returns the counts of the queues that answer, from the cache if they are young
     * enough. Does not fail.
     * @param most the age limit, if lower than that of a scrape
     */
    CompletableFuture<Map<QueueName, QueueOverview>> refresh(Duration most) {
        Refresh last = this.latest.get();
        long enough = Math.min(most.toNanos(), (last.complete() ? this.maxAge : RETRY).toNanos());
        if (!last.result().isDone() || this.nanoTime.getAsLong() - last.at() < enough) {
            return last.result();
        }
        CompletableFuture<Map<QueueName, QueueOverview>> result = new CompletableFuture<>();
        if (!this.latest.compareAndSet(last,
                new Refresh(last.known(), this.nanoTime.getAsLong(), result, true, last.queried()))) {
            return this.latest.get().result();
        }
        if (this.waits) {
            queryOnThread(result);
        }
        else {
            query(result);
        }
        return result;
    }

    /** Ends the refresh if no thread can be started; a later one tries again. */
    private void queryOnThread(CompletableFuture<Map<QueueName, QueueOverview>> result) {
        try {
            this.caller.execute(() -> query(result));
        }
        catch (OutOfMemoryError ex) {
            logger.debug("Cannot read the statistics of the queues", ex);
            Duration silence = silence();
            boolean recent = silence != null && silence.compareTo(this.maxAge.plus(MAX_REFRESH_TIME)) <= 0;
            Refresh ended = this.latest.updateAndGet((last) -> new Refresh(recent ? last.known() : Map.of(), last.at(),
                    last.result(), false, last.queried()));
            result.complete(ended.known());
        }
    }

    private void query(CompletableFuture<Map<QueueName, QueueOverview>> result) {
        Map<QueueName, CompletableFuture<@Nullable QueueOverview>> answers = new HashMap<>();
        boolean queried = false;
        try {
            this.queues.get().forEach((queue) -> answers.computeIfAbsent(queue, this::query));
            queried = true;
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot read the statistics of the queues", ex);
        }
        boolean ofAll = queried;
        Set<QueueName> names = Set.copyOf(answers.keySet());
        this.latest.updateAndGet((last) -> new Refresh(last.known(), last.at(), last.result(), last.complete(), names));
        CompletableFuture.allOf(answers.values().toArray(CompletableFuture<?>[]::new)).whenComplete((done, ex) -> {
            Map<QueueName, QueueOverview> known = new HashMap<>();
            answers.forEach((queue, answer) -> {
                QueueOverview statistics = answer.join();
                if (statistics != null) {
                    known.put(queue, statistics);
                }
            });
            boolean complete = ofAll && known.size() == answers.size();
            this.latest.updateAndGet((last) -> new Refresh(known, last.at(), result, complete, names));
            result.complete(known);
        });
    }

    /**
     * Returns whether the last refresh was about a queue; not if its listener is newer.
     */
    boolean isQueried(QueueName queue) {
        return this.latest.get().queried().contains(queue);
    }

    /** Calls the store regardless of the cache; a blocking store once at a time. */
    CompletableFuture<?> reach() {
        Partition first = Partition.first(this.queues.get().stream().findFirst().orElse(NONE));
        if (!this.waits) {
            return this.inspector.counts(first).whenComplete((counts, failure) -> answered(failure));
        }
        synchronized (this.reaching) {
            if (this.reach.isDone()) {
                this.reach = call(first).whenComplete((counts, failure) -> answered(failure));
            }
            return this.reach;
        }
    }

    private CompletableFuture<?> call(Partition partition) {
        try {
            return CompletableFuture.supplyAsync(() -> this.inspector.counts(partition).join(), this.caller);
        }
        catch (OutOfMemoryError ex) {
            return CompletableFuture.failedFuture(ex); // no thread could be started
        }
    }

    private void answered(@Nullable Throwable failure) {
        if (failure == null) {
            this.answeredAt = this.nanoTime.getAsLong();
        }
        this.lastFailure = (failure != null) ? StoreFailures.unwrap(failure) : null;
    }

    /** Returns how long ago the store answered last; {@code null} if it never has. */
    @Nullable Duration silence() {
        Long last = this.answeredAt;
        return (last != null) ? Duration.ofNanos(this.nanoTime.getAsLong() - last) : null;
    }

    /** Returns the failure of the last call; {@code null} if it succeeded. */
    @Nullable Throwable lastFailure() {
        return this.lastFailure;
    }

    /**
     * Returns the last known counts without waiting for a refresh.
     * @param most how long a refresh may take before the last counts are discarded
     */
    Map<QueueName, QueueOverview> known(Duration most) {
        Refresh last = this.latest.get();
        boolean hangs = !last.result().isDone() && this.nanoTime.getAsLong() - last.at() > most.toNanos();
        return hangs ? Map.of() : last.known();
    }

    private CompletableFuture<QueueOverview> counts(QueueName queue) {
        return this.partitions.of(queue)
            .thenCompose((known) -> StoreFutures.all(known.all(queue).stream().map(this.inspector::counts).toList()))
            .thenApply((counts) -> PartitionCounts.overview(queue, counts));
    }

    private CompletableFuture<@Nullable QueueOverview> query(QueueName queue) {
        return counts(queue).handle((statistics, failure) -> {
            answered(failure);
            if (failure != null) {
                logger.debug("Cannot read the statistics of queue '{}'; its gauges have no value: {}", queue,
                        failure.toString());
            }
            return statistics;
        });
    }

    /**
     * Holds a refresh of the counts.
     *
     * @param known the latest counts, perhaps of an earlier refresh
     * @param at when it began, by the monotonic clock
     * @param result completes with its counts
     * @param complete false if it has ended and some queue did not answer
     * @param queried the queues that it is about
     */
    private record Refresh(Map<QueueName, QueueOverview> known, long at,
            CompletableFuture<Map<QueueName, QueueOverview>> result, boolean complete, Set<QueueName> queried) {
    }

}
