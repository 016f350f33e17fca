package io.delayqueue.store;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import org.jspecify.annotations.Nullable;

/**
 * Adds up by minute what nodes did, for {@value QueueActivity#MINUTES} minutes and at
 * most {@value QueueActivity#MAX_QUEUES} queues. No message depends on it. Threads and
 * failures are the same as in {@link MessageStore}.
 */
public interface ActivityStore {

    /** Does not record anything. */
    ActivityStore NONE = new ActivityStore() {

        @Override
        public CompletableFuture<Reply> report(ActivityReport report) {
            return CompletableFuture.completedFuture(new Reply(List.of(), Instant.EPOCH, List.of()));
        }

        @Override
        public CompletableFuture<Void> record(Instant minute, Map<String, Backlog> backlogs, boolean complete) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<QueueActivity> read(@Nullable String queue) {
            return CompletableFuture
                .completedFuture(new QueueActivity(queue, Instant.EPOCH, List.of(), queue == null, List.of()));
        }

        @Override
        public CompletableFuture<Map<String, long[]>> lateness() {
            return CompletableFuture.completedFuture(Map.of());
        }

    };

    /**
     * Adds a report to the current minute, unless the node has sent it before. The first
     * queues that are reported get places; the place of a queue that no node has reported
     * for six hours becomes free.
     */
    CompletableFuture<Reply> report(ActivityReport report);

    /**
     * Records how many messages queues hold; those without a place are ignored.
     * @param minute a time within the minute
     * @param complete whether these are all queues with a place, so that their sum is
     * that of all queues
     */
    CompletableFuture<Void> record(Instant minute, Map<String, Backlog> backlogs, boolean complete);

    /**
     * Returns what was recorded.
     * @param queue the queue; {@code null} for all queues together
     */
    CompletableFuture<QueueActivity> read(@Nullable String queue);

    /**
     * Returns how many handlers started within this minute and the one before, by queue
     * and {@linkplain LatenessClasses class of lateness}.
     */
    CompletableFuture<Map<String, long[]>> lateness();

    /**
     * Answers a report.
     *
     * @param leftOut the reported queues that got no place
     * @param now the time of the store
     * @param toCount the queues whose messages this node must count now; usually empty,
     * as one node counts them once a minute
     */
    record Reply(List<String> leftOut, Instant now, List<String> toCount) {

        public Reply {
            leftOut = List.copyOf(leftOut);
            toCount = List.copyOf(toCount);
        }

    }

}
