package io.delayqueue.journal;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.TransactionException;

/**
 * Inserts a row for each occurrence of a ledger's schedule before the store sends it.
 * Calls that send nothing, and those of other queues, are passed on. In the mode outbox,
 * occurrences have no rows, also while the queue is still a ledger. While the database is
 * away, schedules of ledgers are not fired. Thread-safe; no method waits.
 */
final class LedgerScheduleStore implements ScheduleStore {

    private static final Logger logger = LoggerFactory.getLogger(LedgerScheduleStore.class);

    /** How long a put, a pause or a resumption waits until its ledger is compared. */
    private static final Duration CHANGE_LIMIT = Duration.ofSeconds(1);

    /**
     * How long a firing waits for that, which is repeated: a ledger that cannot be
     * compared must not delay the others, and after a start the comparison is near.
     */
    private static final Duration FIRING_LIMIT = Duration.ofMillis(100);

    private final ScheduleStore store;

    private final OccurrenceRows rows;

    private final Executor executor;

    /**
     * Creates it.
     * @param executor runs statements of the database, and calls of the store
     */
    LedgerScheduleStore(ScheduleStore store, OccurrenceRows rows, Executor executor) {
        this.store = store;
        this.rows = rows;
        this.executor = executor;
    }

    @Override
    public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
        JournalMode mode = this.rows.include(queue);
        if (mode == JournalMode.OUTBOX) {
            // Rows of a ledger that is left would keep it from becoming empty.
            return this.store.fire(queue, node, steps.stream().map(ScheduleStep::withoutRow).toList());
        }
        if (mode != JournalMode.LEDGER || steps.stream().allMatch((step) -> step.occurrence() == null)) {
            return this.store.fire(queue, node, steps);
        }
        return StoreFutures.send(this.executor, () -> {
            List<ScheduleStep> recorded = record(queue, steps, (node != null) ? FIRING_LIMIT : CHANGE_LIMIT);
            return this.store.fire(queue, node, recorded)
                .whenComplete((firing, failure) -> settle(queue, recorded, firing, failure))
                .thenApply((firing) -> firing.followedByStale(steps.size() - recorded.size()));
        });
    }

    private List<ScheduleStep> record(QueueName queue, List<ScheduleStep> steps, Duration comparisonLimit) {
        try {
            return this.rows.record(queue, steps, comparisonLimit);
        }
        catch (DataIntegrityViolationException ex) {
            // Its text may have the contents of messages.
            throw unrecorded(queue, "refuses rows of occurrences", null);
        }
        catch (DataAccessException | TransactionException ex) {
            throw unrecorded(queue, "does not answer", ex);
        }
        catch (CompletionException ex) {
            throw (StoreFailures.unwrap(ex) instanceof DelayQueueException known) ? known : ex;
        }
    }

    private static StoreUnavailableException unrecorded(QueueName queue, String problem, @Nullable Throwable cause) {
        return new StoreUnavailableException(
                "The database of the journal %s, so no occurrence of queue '%s' was sent".formatted(problem, queue),
                Effect.NONE, cause);
    }

    /**
     * Accepts the rows of what was sent. Deletes all rows if the call had no effect, as
     * it is repeated with other rows, maybe for long: a Redis that is full answers reads.
     */
    private void settle(QueueName queue, List<ScheduleStep> steps, @Nullable FireResult firing,
            @Nullable Throwable failure) {
        if (firing != null && firing.outcomes().contains(StepOutcome.SENT)) {
            execute(queue, () -> this.rows.accept(queue, steps, firing.outcomes()));
        }
        else if (failure != null && StoreFailures.unwrap(failure) instanceof DelayQueueException known
                && known.effect() == Effect.NONE) {
            execute(queue, () -> this.rows.delete(steps));
        }
    }

    /** Leaves rows to the relay if the database does not answer now. */
    private void execute(QueueName queue, Runnable statements) {
        try {
            this.executor.execute(() -> {
                try {
                    statements.run();
                }
                catch (RuntimeException ex) {
                    logger.debug("Rows of occurrences of queue '{}' are settled by the relay, later", queue, ex);
                }
            });
        }
        catch (RejectedExecutionException ex) {
            logger.debug("Rows of occurrences of queue '{}' are settled by the relay, later", queue, ex);
        }
    }

    @Override
    public CompletableFuture<Boolean> resign(QueueName queue, String node) {
        return this.store.resign(queue, node);
    }

    @Override
    public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
        return this.store.change(queue, change);
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
