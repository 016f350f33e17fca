package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Offers messages of accepted rows and dead letters to the store, and evaluates its
 * answers. Thread-safe. Methods that return a future do not wait for the store if the
 * queues are {@linkplain OfferSender#prepared prepared}.
 */
final class RestoreOffers {

    private static final Logger logger = LoggerFactory.getLogger(RestoreOffers.class);

    private final JournalTable table;

    private final OfferSender offers;

    private final LedgerLookup store;

    private final JournalStatus status;

    private final boolean advances;

    /**
     * Creates the offers.
     * @param advances whether messages that the store has with a later due time than
     * their rows are due earlier again: only after a loss of the store, as it is the
     * database otherwise that may have lost a reschedule
     */
    RestoreOffers(JournalTable table, OfferSender offers, LedgerLookup store, JournalStatus status, boolean advances) {
        this.table = table;
        this.offers = offers;
        this.store = store;
        this.status = status;
        this.advances = advances;
    }

    /**
     * Offers messages.
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     * @param thread runs the statements that follow the answers
     * @return the counts, once the store has answered
     */
    CompletableFuture<RestoreReport> offer(List<JournalRow> rows, long begin, Executor thread) {
        Offered offered = start(rows, begin);
        return ended(offered.answers()).thenComposeAsync((done) -> evaluate(offered), thread);
    }

    /** Counts the messages that the store does not know, and offers none. */
    CompletableFuture<RestoreReport> count(List<JournalRow> rows) {
        return this.store.held(rows).thenApply((held) -> {
            long known = held.stream().filter(HeldRevision::known).count();
            return new RestoreReport(held.size() - known, known, 0, 0);
        });
    }

    /** Offers messages, and waits for the answers. */
    RestoreReport offerAndWait(List<JournalRow> rows, long begin) {
        Offered offered = start(rows, begin);
        ended(offered.answers()).join();
        return evaluate(offered).join();
    }

    /**
     * Offers dead letters of a queue.
     * @param begin before they were read, in nanoseconds of the monotonic clock
     * @return the counts, once the store has answered
     */
    CompletableFuture<RestoreReport> offer(QueueName queue, List<LedgerTable.Row> deadLetters, long begin) {
        int count = deadLetters.size();
        return this.store.restoreDeadLetters(queue, deadLetters, begin).handle((restored, failure) -> {
            if (failure != null) {
                log(count, StoreFailures.unwrap(failure));
                return new RestoreReport(0, 0, 0, count);
            }
            return new RestoreReport(restored, (long) count - restored, 0, 0);
        });
    }

    private Offered start(List<JournalRow> rows, long begin) {
        Offered offered = new Offered(new ArrayList<>(rows.size()), new ArrayList<>(rows.size()));
        for (List<JournalRow> batch : OfferSender.batches(rows)) {
            offered.rows().addAll(batch);
            offered.answers().addAll(this.offers.restore(batch, begin));
        }
        return offered;
    }

    private CompletableFuture<RestoreReport> evaluate(Offered offered) {
        long restored = 0;
        long failed = 0;
        Throwable last = null;
        List<CompletableFuture<?>> moved = new ArrayList<>();
        for (int i = 0; i < offered.answers().size(); i++) {
            CompletableFuture<SendResult> answer = offered.answers().get(i);
            Throwable failure = failure(answer);
            if (failure != null) {
                last = failure;
                failed += (failure instanceof MessageGroupChangeException) ? 0 : 1;
                continue;
            }
            SendResult result = answer.join();
            restored += isRestored(result) ? 1 : 0;
            rescheduleAgain(offered.rows().get(i), result, moved);
        }
        log(failed, last);
        this.status.addRestored(restored);
        RestoreReport report = new RestoreReport(restored, offered.answers().size() - restored - failed, 0, failed);
        return ended(moved).thenApply((done) -> {
            long failures = moved.stream().filter((call) -> failure(call) != null).count();
            return report.plus(new RestoreReport(0, -failures, 0, failures));
        });
    }

    /**
     * Moves a message again that an older copy of the store has with another due time,
     * unless it was rescheduled since its row was read.
     */
    private void rescheduleAgain(JournalRow row, SendResult result, List<CompletableFuture<?>> calls) {
        long due = OfferSender.otherDue(row, result);
        long begin = System.nanoTime();
        if (due != 0 && (this.advances || due < row.knownDue().millis()) && isUnchanged(row)) {
            calls.add(this.offers.rescheduleAgain(row, due, begin));
        }
    }

    /** Returns whether a row still says when its message is due. */
    private boolean isUnchanged(JournalRow row) {
        JournalRequest request = row.request();
        return this.table.pendingOf(request.queue(), List.of(request.id())).isEmpty()
                && this.table.accepted(List.of(new DueRevision(0, row.revision())))
                    .stream()
                    .anyMatch((present) -> present.due().equals(row.due()));
    }

    private static boolean isRestored(SendResult result) {
        return result.outcome() != SendOutcome.RECORDED && result.outcome() != SendOutcome.KEPT;
    }

    /** Returns when all calls have ended, with or without a failure. */
    static CompletableFuture<Void> ended(List<? extends CompletableFuture<?>> calls) {
        return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).handle((done, failure) -> null);
    }

    /** Returns the failure of a call that has ended; {@code null} if it succeeded. */
    static @Nullable Throwable failure(CompletableFuture<?> answer) {
        try {
            answer.join();
            return null;
        }
        catch (CompletionException | CancellationException ex) {
            return StoreFailures.unwrap(ex);
        }
    }

    private static void log(long failed, @Nullable Throwable failure) {
        if (failure != null) {
            logger.warn("{} messages of the journal could not be restored now, and are offered again: {}", failed,
                    failure.toString());
        }
    }

    /** Holds rows and the answers to come, in the same order. */
    private record Offered(List<JournalRow> rows, List<CompletableFuture<SendResult>> answers) {
    }

}
