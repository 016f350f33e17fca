package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Reads the history of a message from an SQL database, and erases an id: its message, its
 * dead letters and its history. Thread-safe.
 */
final class RecordedMessageHistory implements MessageHistory {

    private static final int PAGE = 100;

    private static final int MAX_QUEUES = 1_000;

    private final HistoryTable table;

    private final HistoryWriter writer;

    private final Supplier<DelayQueueOperations> operations;

    RecordedMessageHistory(HistoryTable table, HistoryWriter writer, Supplier<DelayQueueOperations> operations) {
        this.table = table;
        this.writer = writer;
        this.operations = operations;
    }

    @Override
    public List<HistoryEntry> of(String queue, String id) {
        QueueName name = new QueueName(queue);
        MessageLimits.requireId(id);
        return withAttempts(answer(() -> this.table.read(name, id, MAX_ENTRIES), Effect.NONE));
    }

    @Override
    public List<String> queuesOf(String id, Collection<String> queues) {
        MessageLimits.requireId(id);
        if (queues.isEmpty()) {
            return List.of();
        }
        if (queues.size() > MAX_QUEUES) {
            throw new IllegalArgumentException(
                    "The number of queues is not valid: use at most %d, not %d".formatted(MAX_QUEUES, queues.size()));
        }
        return answer(() -> this.table.queuesOf(id, queues), Effect.NONE);
    }

    /**
     * Adds the number of the attempt to the events of attempts. It is stored with the
     * claim alone, as a settlement does not know it.
     */
    private static List<HistoryEntry> withAttempts(List<HistoryEntry> entries) {
        List<HistoryEntry> complete = new ArrayList<>(entries.size());
        Integer attempt = null;
        for (HistoryEntry entry : entries) {
            switch (entry.event()) {
                case CLAIMED -> {
                    attempt = entry.attempt();
                    complete.add(entry);
                }
                case FAILED, RETRIED, RELEASED, HANDLED, LEASE_LOST, DEAD_LETTERED ->
                    complete.add(withAttempt(entry, attempt));
                default -> complete.add(entry);
            }
        }
        return List.copyOf(complete);
    }

    private static HistoryEntry withAttempt(HistoryEntry entry, @Nullable Integer attempt) {
        return new HistoryEntry(entry.at(), entry.event(), entry.node(), attempt, entry.detail());
    }

    @Override
    public Erasure erase(String queue, String id) {
        QueueName name = new QueueName(queue);
        CancelResult message = this.operations.get().cancel(queue, MessageLimits.requireId(id));
        long deadLetters = purge(this.operations.get().deadLetters(queue), id, message != CancelResult.NOT_FOUND);
        // Last, as the cancel and the purge are recorded, too.
        long entries = answer(() -> this.writer.erase(name, id), Effect.UNKNOWN);
        return new Erasure(message, deadLetters, entries);
    }

    private static <T> T answer(Supplier<T> call, Effect effect) {
        try {
            return call.get();
        }
        catch (DataAccessException | TransactionException ex) {
            throw new StoreUnavailableException("The database of the history does not answer: " + ex.getMessage(),
                    effect, ex);
        }
    }

    /**
     * Deletes the dead letters of an id.
     * @param cancelled whether the message was changed before, so that a failure is a
     * partial one
     */
    private static long purge(DeadLetterOperations deadLetters, String id, boolean cancelled) {
        long purged = 0;
        String cursor = null;
        try {
            do {
                DeadLetterPage page = deadLetters.list(cursor, PAGE);
                for (DeadLetter found : page.deadLetters()) {
                    if (found.messageId().equals(id) && deadLetters.purge(found.id())) {
                        purged++;
                    }
                }
                cursor = page.nextCursor();
            }
            while (cursor != null);
            return purged;
        }
        catch (DelayQueueException ex) {
            throw (cancelled || purged > 0) ? StoreFailures.partly(ex) : ex;
        }
    }

}
