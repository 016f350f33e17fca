package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.journal.JournalRequest.Operation;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.transaction.TransactionException;

/** Offers accepted rows to the store, which stores those that it does not know. */
final class JournalRestorer implements JournalOperations {

    private static final Logger logger = LoggerFactory.getLogger(JournalRestorer.class);

    private static final int PAGE = 1000;

    /** Dead letters of one call, each of which may be large. */
    private static final int DEAD_LETTERS = 20;

    private static final long SECOND = 1_000_000_000L;

    private final JournalTable table;

    private final LedgerTable ledger;

    private final JournalOffers offers;

    private final JournalStatus status;

    private final Function<QueueName, JournalMode> modes;

    JournalRestorer(JournalTable table, JournalOffers offers, JournalStatus status,
            Function<QueueName, JournalMode> modes) {
        this.table = table;
        this.ledger = new LedgerTable(table);
        this.offers = offers;
        this.status = status;
        this.modes = modes;
    }

    @Override
    public boolean covers(String queue) {
        return this.modes.apply(new QueueName(queue)) == JournalMode.LEDGER;
    }

    @Override
    public RestoreReport restore(RestorePlan plan) {
        return restore(plan, () -> !Thread.currentThread().isInterrupted());
    }

    /**
     * Restores messages while a condition holds. Each page is read while that before is
     * offered, except for a plan with a rate.
     */
    RestoreReport restore(RestorePlan plan, BooleanSupplier running) {
        ExecutorService reader = Executors
            .newSingleThreadExecutor(new CustomizableThreadFactory("delayqueue-restore-"));
        try {
            RestoreReport report = RestoreReport.NONE;
            Page page = read(plan, RestoreCursor.START);
            while (running.getAsBoolean() && !page.rows().isEmpty()) {
                RestoreCursor end = page.end();
                CompletableFuture<Page> next = isPaced(plan) ? null
                        : CompletableFuture.supplyAsync(() -> read(plan, end), reader);
                report = report.plus(offer(plan, page));
                page = (next != null) ? joined(next) : read(plan, end);
            }
            return running.getAsBoolean() ? report.plus(restoreDeadLetters(plan)) : report;
        }
        finally {
            reader.shutdown();
        }
    }

    private static Page joined(CompletableFuture<Page> page) {
        try {
            return page.join();
        }
        catch (CompletionException ex) {
            throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
        }
    }

    @Override
    public RestoreStep restore(RestorePlan plan, @Nullable String cursor) {
        Page page = read(plan, RestoreCursor.parse(cursor));
        return page.rows().isEmpty() ? new RestoreStep(restoreDeadLetters(plan), null)
                : new RestoreStep(offer(plan, page), page.end().toString());
    }

    private RestoreReport offer(RestorePlan plan, Page page) {
        List<JournalRow> first = page.rows().stream().filter((row) -> !row.behind()).toList();
        List<JournalRow> selected = first.stream().filter((row) -> !isLeftOut(plan, row)).toList();
        RestoreReport report = new RestoreReport(0, 0, first.size() - selected.size(), 0)
            .plus(plan.dryRun() ? new RestoreReport(selected.size(), 0, 0, 0) : offer(selected, page.readAt()));
        if (isPaced(plan)) {
            waitUntil(page.readAt() + selected.size() * SECOND / plan.rate());
        }
        return report;
    }

    private static boolean isPaced(RestorePlan plan) {
        return plan.rate() > 0 && !plan.dryRun();
    }

    private Page read(RestorePlan plan, RestoreCursor start) {
        long begin = System.nanoTime();
        return new Page(read(plan, start, isPaced(plan) ? Math.min(plan.rate(), PAGE) : PAGE), begin);
    }

    private List<JournalRow> read(RestorePlan plan, RestoreCursor start, int limit) {
        try {
            return this.table.accepted(plan, Operation.SEND, start, limit);
        }
        catch (DataAccessException | TransactionException ex) {
            throw new StoreUnavailableException("The database of the journal does not answer: " + ex.getMessage(),
                    Effect.NONE, ex);
        }
    }

    /**
     * Restores the dead letters of the queue of a plan that selects neither an id nor a
     * due time.
     */
    private RestoreReport restoreDeadLetters(RestorePlan plan) {
        RestoreReport report = RestoreReport.NONE;
        if (plan.queue() == null || plan.id() != null || plan.dueBefore() != null || plan.dryRun()
                || this.status.isLeftAlone(new QueueName(plan.queue()))) {
            return report;
        }
        QueueName queue = new QueueName(plan.queue());
        String last = "";
        while (!Thread.currentThread().isInterrupted()) {
            long begin = System.nanoTime();
            List<LedgerTable.Row> page = this.ledger.deadLetters(queue, last, DEAD_LETTERS);
            if (page.isEmpty()) {
                break;
            }
            try {
                int restored = this.offers.restoreDeadLetters(queue, page, begin);
                report = report.plus(new RestoreReport(restored, (long) page.size() - restored, 0, 0));
            }
            catch (RuntimeException ex) {
                log(page.size(), StoreFailures.unwrap(ex));
                report = report.plus(new RestoreReport(0, 0, 0, page.size()));
            }
            last = page.get(page.size() - 1).deadLetter().deadLetterId();
        }
        return report;
    }

    private static void waitUntil(long time) {
        for (long rest = time - System.nanoTime(); rest > 0
                && !Thread.currentThread().isInterrupted(); rest = time - System.nanoTime()) {
            LockSupport.parkNanos(rest);
        }
    }

    /**
     * Cancels again what an older copy of the store may have brought back, while a
     * condition holds.
     * @return how many cancels failed
     */
    long cancelAgain(RestorePlan plan, BooleanSupplier running) {
        long failed = 0;
        RestoreCursor cursor = RestoreCursor.START;
        while (running.getAsBoolean()) {
            long begin = System.nanoTime();
            List<JournalRow> page = this.table.accepted(plan, Operation.CANCEL, cursor, PAGE);
            if (page.isEmpty()) {
                break;
            }
            List<CompletableFuture<?>> answers = page.stream()
                .filter((row) -> !row.behind())
                .<CompletableFuture<?>>map((row) -> this.offers.cancelAgain(row, begin))
                .toList();
            failed += answers.stream().filter((answer) -> failure(answer) != null).count();
            cursor = RestoreCursor.behind(page.get(page.size() - 1));
        }
        return failed;
    }

    private static @Nullable Throwable failure(CompletableFuture<?> answer) {
        try {
            answer.join();
            return null;
        }
        catch (CompletionException | CancellationException ex) {
            return StoreFailures.unwrap(ex);
        }
    }

    private boolean isLeftOut(RestorePlan plan, JournalRow row) {
        NewMessage message = row.request().message();
        if (this.status.isLeftAlone(row.request().queue())) {
            return true;
        }
        if (plan.includeExpired() || message == null || message.timeToLive() == null) {
            return false;
        }
        QueueName queue = row.request().queue();
        return this.offers.millis(queue, message.due()) + message.timeToLive().toMillis() < this.offers.millis(queue,
                DueTime.NOW);
    }

    /**
     * Offers messages of accepted rows, and waits for the answers.
     * @param begin before the rows were read, in nanoseconds of the monotonic clock
     */
    RestoreReport offer(List<JournalRow> rows, long begin) {
        List<CompletableFuture<SendResult>> answers = new ArrayList<>(rows.size());
        for (List<JournalRow> batch : JournalOffers.batches(rows)) {
            List<CompletableFuture<SendResult>> sent = this.offers.restore(batch, begin);
            for (int i = 0; i < batch.size(); i++) {
                JournalRow row = batch.get(i);
                answers.add(sent.get(i)
                    .thenCompose((result) -> this.offers.postponeAgain(row, row.message(), result, begin)));
            }
        }
        long restored = 0;
        long failed = 0;
        Throwable last = null;
        for (CompletableFuture<SendResult> answer : answers) {
            Throwable failure = failure(answer);
            if (failure == null) {
                restored += isRestored(answer.join()) ? 1 : 0;
            }
            else {
                last = failure;
                failed += (failure instanceof MessageGroupChangeException) ? 0 : 1;
            }
        }
        log(failed, last);
        this.status.addRestored(restored);
        return new RestoreReport(restored, answers.size() - restored - failed, 0, failed);
    }

    private static boolean isRestored(SendResult result) {
        return result.outcome() != SendOutcome.RECORDED && result.outcome() != SendOutcome.KEPT;
    }

    private static void log(long failed, @Nullable Throwable failure) {
        if (failure != null) {
            logger.warn("{} messages of the journal could not be restored now, and are offered again: {}", failed,
                    failure.toString());
        }
    }

    /**
     * Holds rows that were read at once.
     *
     * @param rows in the order of the restore
     * @param readAt when the read began, in nanoseconds of the monotonic clock
     */
    private record Page(List<JournalRow> rows, long readAt) {

        RestoreCursor end() {
            return RestoreCursor.behind(this.rows.get(this.rows.size() - 1));
        }

    }

}
