package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.delayqueue.CancelResult;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records requests on the queues that have a journal. In a transaction of the journal's
 * database the row commits or rolls back with the caller's own changes, and the answer is
 * DEFERRED. Otherwise the row has a transaction of its own, and the answer is that of the
 * store, or RECORDED if the store has none yet.
 * <p>
 * Each method blocks the calling thread for one insert, and may be called from any
 * thread. Exceptions of the database are
 * {@link org.springframework.dao.DataAccessException}s; nothing is recorded then.
 */
public final class Journal {

    private static final Logger logger = LoggerFactory.getLogger(Journal.class);

    private final JournalTable table;

    private final JournalRelay relay;

    private final JournalReconciler reconciler;

    private final JournalStatus status;

    private final PresentTransaction present;

    private final Function<QueueName, JournalMode> modes;

    private final Duration answerTimeout;

    /**
     * Creates a journal.
     * @param modes the mode of each queue
     * @param answerTimeout longest wait for an answer of the store
     */
    Journal(JournalTable table, JournalRelay relay, JournalReconciler reconciler, JournalStatus status,
            Function<QueueName, JournalMode> modes, Duration answerTimeout) {
        this.table = table;
        this.reconciler = reconciler;
        this.relay = relay;
        this.status = status;
        this.present = new PresentTransaction(table.database().dataSource());
        this.modes = modes;
        this.answerTimeout = answerTimeout;
    }

    /** Returns whether requests on a queue are to be recorded here. */
    public boolean covers(QueueName queue) {
        return this.modes.apply(queue).recordsRequests();
    }

    /**
     * Records sends to a queue, all or none, and returns their answers in the same order.
     */
    public List<CompletableFuture<SendResult>> send(QueueName queue, List<NewMessage> messages) {
        List<CompletableFuture<Optional<Object>>> answers = record(queue,
                messages.stream().map((message) -> JournalRequest.send(queue, message)).toList());
        SendOutcome recorded = answers.isEmpty() ? SendOutcome.DEFERRED : SendOutcome.RECORDED;
        List<CompletableFuture<SendResult>> results = new ArrayList<>(messages.size());
        for (int i = 0; i < messages.size(); i++) {
            SendResult result = new SendResult(queue.value(), messages.get(i).id(), null, recorded);
            results.add(answers.isEmpty() ? CompletableFuture.completedFuture(result)
                    : answer(answers.get(i), SendResult.class, result));
        }
        return results;
    }

    /**
     * Records a send in a transaction of its own, whatever transaction the calling thread
     * has. Does not block the calling thread, which may be one of the store's client.
     */
    public CompletableFuture<SendResult> sendAlone(QueueName queue, NewMessage message) {
        SendResult recorded = new SendResult(queue.value(), message.id(), null, SendOutcome.RECORDED);
        try {
            requireOwn(queue);
        }
        catch (StoreRefusedException ex) {
            return CompletableFuture.failedFuture(ex);
        }
        this.reconciler.include(queue);
        return this.relay.insert(JournalRequest.send(queue, message))
            .thenCompose((answer) -> answer(answer, SendResult.class, recorded));
    }

    /** Records a cancel. */
    public CompletableFuture<CancelResult> cancel(QueueName queue, String id) {
        List<CompletableFuture<Optional<Object>>> answers = record(queue, List.of(JournalRequest.cancel(queue, id)));
        return answers.isEmpty() ? CompletableFuture.completedFuture(CancelResult.DEFERRED)
                : answer(answers.get(0), CancelResult.class, CancelResult.RECORDED);
    }

    /** Records a reschedule. */
    public CompletableFuture<RescheduleResult> reschedule(QueueName queue, String id, DueTime due) {
        List<CompletableFuture<Optional<Object>>> answers = record(queue,
                List.of(JournalRequest.reschedule(queue, id, due)));
        return answers.isEmpty() ? CompletableFuture.completedFuture(RescheduleResult.DEFERRED)
                : answer(answers.get(0), RescheduleResult.class, RescheduleResult.RECORDED);
    }

    /** Returns how many requests wait for the commit of this thread's transaction. */
    public int waitingForCommit() {
        PendingRows pending = (PendingRows) TransactionSynchronizationManager.getResource(this);
        return (pending != null) ? pending.inserted.size() : 0;
    }

    private <T> CompletableFuture<T> answer(CompletableFuture<Optional<Object>> answer, Class<T> type, T recorded) {
        return answer.completeOnTimeout(Optional.empty(), this.answerTimeout.toMillis(), TimeUnit.MILLISECONDS)
            .thenApply((known) -> known.map(type::cast).orElse(recorded));
    }

    /**
     * Inserts rows; returns the answers to come, or an empty list if a transaction is to
     * commit first.
     */
    private List<CompletableFuture<Optional<Object>>> record(QueueName queue, List<JournalRequest> requests) {
        long begin = System.nanoTime();
        requireOwn(queue);
        this.reconciler.include(queue);
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            return this.table.insertAlone(requests)
                .stream()
                .map((revision) -> this.relay.submit(revision, begin))
                .toList();
        }
        PendingRows pending = (PendingRows) TransactionSynchronizationManager.getResource(this);
        requireSuitableTransaction(queue, pending);
        if (pending == null) {
            pending = new PendingRows();
            TransactionSynchronizationManager.registerSynchronization(pending);
            TransactionSynchronizationManager.bindResource(this, pending);
        }
        for (JournalRequest request : requests) {
            pending.inserted.add(new Inserted(this.table.insert(request), begin));
        }
        return List.of();
    }

    /** Rejects requests that nothing would apply. */
    private void requireOwn(QueueName queue) {
        if (this.status.pairs().isForeign(queue)) {
            throw new StoreRefusedException(
                    "Queue '%s' belongs to the journal of another database. Nothing was recorded".formatted(queue),
                    null);
        }
    }

    private void requireSuitableTransaction(QueueName queue, @Nullable PendingRows pending) {
        String reason = null;
        if (pending != null && pending.commits) {
            reason = "it commits already: send before the commit, or in a new transaction";
        }
        else if (!TransactionSynchronizationManager.isSynchronizationActive() || !this.present.isOfDataSource()) {
            reason = "it is not one of the journal's DataSource";
        }
        else if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            reason = "it is read-only";
        }
        if (reason != null) {
            throw new IllegalTransactionStateException(
                    "Queue '%s' has a journal, which the present transaction cannot write to, as %s. Nothing was recorded"
                        .formatted(queue, reason));
        }
    }

    /**
     * Holds a row that the present transaction has inserted.
     *
     * @param revision its key
     * @param begin when its insert began, in nanoseconds of the monotonic clock
     */
    private record Inserted(long revision, long begin) {
    }

    /**
     * Submits the rows of a transaction after its commit. Rows that were rolled back to a
     * savepoint are submitted too, and not found.
     */
    private final class PendingRows implements TransactionSynchronization {

        private final List<Inserted> inserted = new ArrayList<>();

        private boolean commits;

        /**
         * Precedes the callbacks of the application, so that their sends are rejected.
         */
        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            this.commits = true;
        }

        @Override
        public void suspend() {
            TransactionSynchronizationManager.unbindResourceIfPossible(Journal.this);
        }

        @Override
        public void resume() {
            TransactionSynchronizationManager.bindResource(Journal.this, this);
        }

        @Override
        public void afterCompletion(int status) {
            TransactionSynchronizationManager.unbindResourceIfPossible(Journal.this);
            if (status == STATUS_COMMITTED && !this.commits) {
                logger.error("{} requests were recorded in a callback after the commit of a transaction, for which "
                        + "they came too late: use a new transaction there. They are applied late, and are lost if "
                        + "the connections of the pool do not commit automatically", this.inserted.size());
            }
            if (status != STATUS_ROLLED_BACK) {
                this.inserted.forEach((row) -> Journal.this.relay.submit(row.revision(), row.begin()));
            }
        }

    }

}
