package io.delayqueue.actuator;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.store.routing.PartitionLayoutCache;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the queues of this node held a moment ago. Who asks is never kept waiting: it gets
 * what was read last, and if that is too old the store is asked for newer, by one call
 * per partition, however many ask meanwhile.
 * <p>
 * <strong>Threads.</strong> Any thread asks; the answers come on those of the store's
 * connection.
 */
public final class StatisticsCache {

    private static final Logger logger = LoggerFactory.getLogger(StatisticsCache.class);

    /** Looked at where there is no queue: nothing is ever stored there. */
    private static final QueueName NONE = new QueueName("none");

    /** What was read before a look that takes longer than this is told no more. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** After a look that some queue did not answer: it may do so again by now. */
    static final Duration RETRY = Duration.ofSeconds(1);

    private final QueueInspector inspector;

    private final PartitionLayoutCache partitions;

    /** Whether calls wait for their answers on the thread that makes them. */
    private final boolean waits;

    private final Supplier<List<QueueName>> queues;

    private final Duration maxAge;

    private final LongSupplier nanoTime;

    private final AtomicReference<Look> latest;

    /** When the store answered last; {@code null} before it has. */
    private volatile @Nullable Long answeredAt;

    private volatile @Nullable Throwable lastFailure;

    private final Object reaching = new Object();

    /** The last one on a thread of its own: those that hang shall not pile up. */
    private CompletableFuture<?> reach = CompletableFuture.completedFuture(null);

    /**
     * Creates one that has not looked yet.
     * @param inspector counts
     * @param ports of the same store
     * @param queues those to look into, asked each time
     * @param maxAge how old what is told may be before newer is asked for
     * @param nanoTime the clock for spans
     */
    public StatisticsCache(QueueInspector inspector, DelayQueueStore ports, Supplier<List<QueueName>> queues,
            Duration maxAge, LongSupplier nanoTime) {
        this.inspector = inspector;
        this.partitions = ports.partitions();
        this.waits = ports.messages().waits();
        this.queues = queues;
        this.maxAge = maxAge;
        this.nanoTime = nanoTime;
        this.latest = new AtomicReference<>(new Look(Map.of(), nanoTime.getAsLong() - maxAge.toNanos(),
                CompletableFuture.completedFuture(Map.of()), true));
    }

    /**
     * What is known of a queue; {@code null} if nothing is, as while the store is away or
     * hangs.
     */
    @Nullable QueueOverview of(QueueName queue) {
        refresh();
        Look look = this.latest.get();
        boolean hangs = !look.coming().isDone() && this.nanoTime.getAsLong() - look.at() > PATIENCE.toNanos();
        return hangs ? null : look.known().get(queue);
    }

    /** As {@link #refresh(Duration)} for whoever is content with what a scrape tells. */
    CompletableFuture<Map<QueueName, QueueOverview>> refresh() {
        return refresh(this.maxAge);
    }

    /**
     * The queues that answered, once they have: what is known, if that is young enough.
     * Does not fail.
     * @param most how old that may be; no older than a scrape tells, whatever is asked
     * for
     */
    CompletableFuture<Map<QueueName, QueueOverview>> refresh(Duration most) {
        Look look = this.latest.get();
        long enough = Math.min(most.toNanos(), (look.whole() ? this.maxAge : RETRY).toNanos());
        if (!look.coming().isDone() || this.nanoTime.getAsLong() - look.at() < enough) {
            return look.coming();
        }
        CompletableFuture<Map<QueueName, QueueOverview>> coming = new CompletableFuture<>();
        if (!this.latest.compareAndSet(look, new Look(look.known(), this.nanoTime.getAsLong(), coming, true))) {
            return this.latest.get().coming();
        }
        if (this.waits) {
            onThread(() -> ask(coming));
        }
        else {
            ask(coming);
        }
        return coming;
    }

    private void ask(CompletableFuture<Map<QueueName, QueueOverview>> coming) {
        Map<QueueName, CompletableFuture<@Nullable QueueOverview>> answers = new HashMap<>();
        boolean asked = false;
        try {
            this.queues.get().forEach((queue) -> answers.computeIfAbsent(queue, this::ask));
            asked = true;
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot read the statistics of the queues", ex);
        }
        boolean ofAll = asked;
        CompletableFuture.allOf(answers.values().toArray(CompletableFuture<?>[]::new)).whenComplete((done, ex) -> {
            Map<QueueName, QueueOverview> known = new HashMap<>();
            answers.forEach((queue, answer) -> {
                QueueOverview statistics = answer.join();
                if (statistics != null) {
                    known.put(queue, statistics);
                }
            });
            boolean whole = ofAll && known.size() == answers.size();
            this.latest.updateAndGet((look) -> new Look(known, look.at(), coming, whole));
            coming.complete(known);
        });
    }

    /** Asks the store something, whatever is known; once, until that call has ended. */
    CompletableFuture<?> reach() {
        Partition first = Partition.first(this.queues.get().stream().findFirst().orElse(NONE));
        if (!this.waits) {
            return this.inspector.counts(first).whenComplete((counts, failure) -> answered(failure));
        }
        synchronized (this.reaching) {
            if (this.reach.isDone()) {
                this.reach = CompletableFuture
                    .supplyAsync(() -> this.inspector.counts(first).join(), StatisticsCache::onThread)
                    .whenComplete((counts, failure) -> answered(failure));
            }
            return this.reach;
        }
    }

    private void answered(@Nullable Throwable failure) {
        if (failure == null) {
            this.answeredAt = this.nanoTime.getAsLong();
        }
        this.lastFailure = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
                : failure;
    }

    /** How long ago the store answered last; {@code null} if it never has. */
    @Nullable Duration silence() {
        Long last = this.answeredAt;
        return (last != null) ? Duration.ofNanos(this.nanoTime.getAsLong() - last) : null;
    }

    /** What the last call failed by; {@code null} if it did not. */
    @Nullable Throwable lastFailure() {
        return this.lastFailure;
    }

    /**
     * What is known of the queues without waiting for what is asked.
     * @param most how long the store may take; what was read before counts no more then
     */
    Map<QueueName, QueueOverview> known(Duration most) {
        Look look = this.latest.get();
        boolean hangs = !look.coming().isDone() && this.nanoTime.getAsLong() - look.at() > most.toNanos();
        return hangs ? Map.of() : look.known();
    }

    private static void onThread(Runnable call) {
        Thread thread = new Thread(call, "delayqueue-statistics");
        thread.setDaemon(true);
        thread.start();
    }

    private CompletableFuture<QueueOverview> counts(QueueName queue) {
        return this.partitions.of(queue).thenCompose((known) -> {
            List<CompletableFuture<PartitionCounts>> counts = known.all(queue)
                .stream()
                .map(this.inspector::counts)
                .toList();
            return CompletableFuture.allOf(counts.toArray(CompletableFuture<?>[]::new))
                .thenApply((all) -> PartitionCounts.overview(queue,
                        counts.stream().map(CompletableFuture::join).toList()));
        });
    }

    private CompletableFuture<@Nullable QueueOverview> ask(QueueName queue) {
        return counts(queue).handle((statistics, failure) -> {
            answered(failure);
            if (failure != null) {
                logger.debug("Cannot read the statistics of queue '{}'; its gauges tell nothing: {}", queue,
                        failure.toString());
            }
            return statistics;
        });
    }

    /**
     * A look into the queues.
     *
     * @param known what is known by now, perhaps of an earlier look
     * @param at when it began, by the monotonic clock
     * @param coming what it brings
     * @param whole false if it has ended and some queue did not answer
     */
    private record Look(Map<QueueName, QueueOverview> known, long at,
            CompletableFuture<Map<QueueName, QueueOverview>> coming, boolean whole) {
    }

}
