package io.delayqueue.listener;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.routing.PartitionLayouts;

/**
 * Counts the messages of queues, a few queues at a time, because other calls share the
 * connection. Thread-safe.
 */
public final class BacklogCounter {

    /** Maximum number of queues that are counted concurrently. */
    static final int MAX_READS = 20;

    /** Time after which no more queues are read; another node is asked after 20 s. */
    static final Duration LIMIT = Duration.ofSeconds(10);

    private final QueueInspector inspector;

    private final PartitionLayouts layouts;

    private final LongSupplier nanoTime;

    public BacklogCounter(QueueInspector inspector, PartitionLayouts layouts, LongSupplier nanoTime) {
        this.inspector = inspector;
        this.layouts = layouts;
        this.nanoTime = nanoTime;
    }

    /** Returns the counts of those queues that can be read within the limit. */
    CompletableFuture<Map<String, Backlog>> count(List<String> queues) {
        long begun = this.nanoTime.getAsLong();
        CompletableFuture<Map<String, Backlog>> counted = CompletableFuture.completedFuture(new HashMap<>());
        for (int i = 0; i < queues.size(); i += MAX_READS) {
            List<String> some = queues.subList(i, Math.min(queues.size(), i + MAX_READS));
            counted = counted.thenCompose((counts) -> count(some, counts, begun));
        }
        return counted;
    }

    private CompletableFuture<Map<String, Backlog>> count(List<String> queues, Map<String, Backlog> counts,
            long begun) {
        // With a blocking client, each call returns only when it is answered.
        List<CompletableFuture<QueueOverview>> answers = queues.stream()
            .takeWhile((queue) -> this.nanoTime.getAsLong() - begun <= LIMIT.toNanos())
            .map((queue) -> StoreFutures.send(() -> overview(new QueueName(queue))))
            .toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).handle((all, failure) -> {
            answers.stream().filter((answer) -> !answer.isCompletedExceptionally()).forEach((answer) -> {
                QueueOverview queue = answer.join();
                counts.put(queue.queue(), new Backlog(queue.due(), queue.leased(), queue.scheduled(), queue.dead()));
            });
            return counts;
        });
    }

    private CompletableFuture<QueueOverview> overview(QueueName queue) {
        return this.layouts.each(queue, this.inspector::counts, PartitionCounts::version)
            .thenApply((counts) -> PartitionCounts.overview(queue, counts));
    }

}
