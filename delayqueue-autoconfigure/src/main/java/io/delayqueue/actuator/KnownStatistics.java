package io.delayqueue.actuator;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.engine.Router;
import io.delayqueue.engine.StorePorts;
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
public final class KnownStatistics {

    private static final Logger logger = LoggerFactory.getLogger(KnownStatistics.class);

    private final Router router;

    /** Whether calls wait for their answers on the thread that makes them. */
    private final boolean waits;

    private final Supplier<List<QueueName>> queues;

    private final Duration maxAge;

    private final LongSupplier nanoTime;

    private final AtomicReference<Look> latest;

    /**
     * Creates one that has not looked yet.
     * @param ports where messages live
     * @param queues those to look into, asked each time
     * @param maxAge how old what is told may be before newer is asked for
     * @param nanoTime the clock for spans
     */
    public KnownStatistics(StorePorts ports, Supplier<List<QueueName>> queues, Duration maxAge, LongSupplier nanoTime) {
        this.router = new Router(ports);
        this.waits = ports.messages().waits();
        this.queues = queues;
        this.maxAge = maxAge;
        this.nanoTime = nanoTime;
        this.latest = new AtomicReference<>(new Look(Map.of(), nanoTime.getAsLong() - maxAge.toNanos(),
                CompletableFuture.completedFuture(Map.of())));
    }

    /**
     * What is known of a queue; {@code null} if nothing is, as while the store is away.
     */
    @Nullable QueueStatistics of(QueueName queue) {
        refresh();
        return this.latest.get().known().get(queue);
    }

    /**
     * The queues that answered, once they have: what is known, if that is young enough.
     * Does not fail.
     */
    CompletableFuture<Map<QueueName, QueueStatistics>> refresh() {
        Look look = this.latest.get();
        if (!look.coming().isDone() || this.nanoTime.getAsLong() - look.at() < this.maxAge.toNanos()) {
            return look.coming();
        }
        CompletableFuture<Map<QueueName, QueueStatistics>> coming = new CompletableFuture<>();
        if (!this.latest.compareAndSet(look, new Look(look.known(), this.nanoTime.getAsLong(), coming))) {
            return this.latest.get().coming();
        }
        if (this.waits) {
            Thread thread = new Thread(() -> ask(coming), "delayqueue-statistics");
            thread.setDaemon(true);
            thread.start();
        }
        else {
            ask(coming);
        }
        return coming;
    }

    private void ask(CompletableFuture<Map<QueueName, QueueStatistics>> coming) {
        Map<QueueName, CompletableFuture<@Nullable QueueStatistics>> answers = new HashMap<>();
        try {
            this.queues.get().forEach((queue) -> answers.computeIfAbsent(queue, this::ask));
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot read the statistics of the queues", ex);
        }
        CompletableFuture.allOf(answers.values().toArray(CompletableFuture<?>[]::new)).whenComplete((all, ex) -> {
            Map<QueueName, QueueStatistics> known = new HashMap<>();
            answers.forEach((queue, answer) -> {
                QueueStatistics statistics = answer.join();
                if (statistics != null) {
                    known.put(queue, statistics);
                }
            });
            this.latest.updateAndGet((look) -> new Look(known, look.at(), coming));
            coming.complete(known);
        });
    }

    private CompletableFuture<@Nullable QueueStatistics> ask(QueueName queue) {
        return this.router.statisticsOfKnown(queue).handle((statistics, failure) -> {
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
     */
    private record Look(Map<QueueName, QueueStatistics> known, long at,
            CompletableFuture<Map<QueueName, QueueStatistics>> coming) {
    }

}
