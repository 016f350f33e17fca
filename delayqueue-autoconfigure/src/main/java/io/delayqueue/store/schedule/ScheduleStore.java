package io.delayqueue.store.schedule;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.store.MessageStore;
import org.jspecify.annotations.Nullable;

/**
 * Stores schedules, and the occurrences that they send, in the first partition of a
 * queue. Schedules are settings, which remain when all messages are gone. Threads and
 * failures are the same as in {@link MessageStore}.
 */
public interface ScheduleStore {

    /** Maximum number of steps of a call, and of schedules that it returns. */
    int BATCH_LIMIT = MessageStore.BATCH_LIMIT;

    /** Store of schedules of a message store that does not support them. */
    ScheduleStore NONE = new ScheduleStore() {

        @Override
        public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            return refused();
        }

        @Override
        public CompletableFuture<Boolean> resign(QueueName queue, String node) {
            return CompletableFuture.completedFuture(false);
        }

        @Override
        public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
            return refused();
        }

        @Override
        public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
                Map<String, String> fingerprints) {
            return refused();
        }

        @Override
        public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
            return refused();
        }

        @Override
        public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after,
                int limit) {
            return CompletableFuture.completedFuture(new ScheduleSnapshotPage(List.of(), null));
        }

        private static <T> CompletableFuture<T> refused() {
            return CompletableFuture.failedFuture(
                    new StoreRefusedException("This store keeps no schedules; nothing was changed", Effect.NONE, null));
        }

    };

    /**
     * Applies steps, each atomically, and returns the schedules that are due after them,
     * or to the firing node those that are due next. Applies all steps of which no other
     * node was first.
     * @param node the calling node, which fires first from then on if at least one step
     * was applied; {@code null} for a caller that does not fire the queue
     * @param steps at most {@link #BATCH_LIMIT}; several of one schedule are applied in
     * their order
     */
    CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps);

    /**
     * Ends that a node fires first, and notifies the others.
     * @return {@code false} if it was not the firing node
     */
    CompletableFuture<Boolean> resign(QueueName queue, String node);

    /**
     * Replaces the state of a schedule, and notifies other nodes.
     * @return {@code false} if the schedule has another state than expected; nothing was
     * changed
     */
    CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change);

    /**
     * Records which definitions a node declares, and removes schedules whose declarations
     * have ended. A store in memory removes none, as it ends with its process.
     * @param owner the application
     * @param removes whether schedules of the owner are removed that none of its nodes
     * has declared for an hour in which it had live nodes
     * @param fingerprints identify the definitions, by the names of the schedules
     */
    CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
            Map<String, String> fingerprints);

    /** Returns a schedule, or that there is none. */
    CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name);

    /**
     * Returns schedules, the one that is due next first. A page may have fewer than the
     * limit although more follow, if their definitions are large.
     * @param after the position after which the result starts; {@code null} for the
     * beginning
     * @param limit 1 to {@link #BATCH_LIMIT}
     */
    CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after, int limit);

}
