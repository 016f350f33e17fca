package io.delayqueue.test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
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
 * Calls a store of schedules for a test: lists calls while they are pending, wakes the
 * loops of this process after changes, and fails while the store is away.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class VirtualTimeScheduleStore implements ScheduleStore {

    private final ScheduleStore store;

    private final VirtualTimeEngine.Parts parts;

    VirtualTimeScheduleStore(ScheduleStore store, VirtualTimeEngine.Parts parts) {
        this.store = store;
        this.parts = parts;
    }

    private <T> CompletableFuture<T> call(String name, Supplier<CompletableFuture<T>> call, Runnable onAnswer) {
        if (this.parts.faults().isAway()) {
            return CompletableFuture.failedFuture(new StoreUnavailableException(
                    "The store is away (redisAway of the test): '%s' changed nothing".formatted(name), Effect.NONE,
                    null));
        }
        return this.parts.quietDetector().call(name, call, onAnswer);
    }

    private <T> CompletableFuture<T> read(String name, Supplier<CompletableFuture<T>> call) {
        return call(name, call, () -> {
        });
    }

    @Override
    public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
        return call("fire schedules", () -> this.store.fire(queue, node, steps), () -> {
            if (!steps.isEmpty()) {
                this.parts.wakeUps().changed(Partition.first(queue));
            }
        });
    }

    @Override
    public CompletableFuture<Boolean> resign(QueueName queue, String node) {
        return read("resign", () -> this.store.resign(queue, node));
    }

    @Override
    public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
        return call("change a schedule", () -> this.store.change(queue, change),
                () -> this.parts.wakeUps().schedulesChanged(queue));
    }

    @Override
    public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
            Map<String, String> fingerprints) {
        return read("declare schedules", () -> this.store.declare(queue, owner, removes, fingerprints));
    }

    @Override
    public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
        return read("find a schedule", () -> this.store.find(queue, name));
    }

    @Override
    public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, @Nullable ScheduleCursor after, int limit) {
        return read("list schedules", () -> this.store.list(queue, after, limit));
    }

}
