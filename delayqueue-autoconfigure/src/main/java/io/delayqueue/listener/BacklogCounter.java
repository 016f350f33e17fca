package io.delayqueue.listener;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

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

    private final QueueInspector inspector;

    private final PartitionLayouts layouts;

    public BacklogCounter(QueueInspector inspector, PartitionLayouts layouts) {
        this.inspector = inspector;
        this.layouts = layouts;
    }

    /** Returns the counts of those queues that can be read. */
    CompletableFuture<Map<String, Backlog>> count(List<String> queues) {
        CompletableFuture<Map<String, Backlog>> counted = CompletableFuture.completedFuture(new HashMap<>());
        for (int i = 0; i < queues.size(); i += MAX_READS) {
            List<String> some = queues.subList(i, Math.min(queues.size(), i + MAX_READS));
            counted = counted.thenCompose((counts) -> count(some, counts));
        }
        return counted;
    }

    private CompletableFuture<Map<String, Backlog>> count(List<String> queues, Map<String, Backlog> counts) {
        List<CompletableFuture<QueueOverview>> answers = queues.stream()
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
        return this.layouts.of(queue).thenCompose((layout) -> {
            List<CompletableFuture<PartitionCounts>> counts = layout.all(queue)
                .stream()
                .map(this.inspector::counts)
                .toList();
            return CompletableFuture.allOf(counts.toArray(CompletableFuture<?>[]::new))
                .thenApply((all) -> PartitionCounts.overview(queue,
                        counts.stream().map(CompletableFuture::join).toList()));
        });
    }

}
