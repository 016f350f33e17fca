package io.delayqueue.template;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;

/**
 * Loses the answers to changes, which have been made unless the effect is
 * {@link Effect#NONE}.
 */
record AnswerlessScheduleStore(ScheduleStore store, Effect effect) implements ScheduleStore {

    @Override
    public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
        if (this.effect != Effect.NONE) {
            this.store.change(queue, change).join();
        }
        return CompletableFuture.failedFuture(new StoreUnavailableException("The answer is lost", this.effect, null));
    }

    @Override
    public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
        return this.store.fire(queue, node, steps);
    }

    @Override
    public CompletableFuture<Boolean> resign(QueueName queue, String node) {
        return this.store.resign(queue, node);
    }

    @Override
    public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
            Map<String, String> fingerprints) {
        return this.store.declare(queue, owner, removes, fingerprints);
    }

    @Override
    public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
        return this.store.find(queue, name);
    }

    @Override
    public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after, int limit) {
        return this.store.list(queue, after, limit);
    }

}
