package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.transaction.TransactionException;

/**
 * Restores messages on demand, page by page, from accepted rows and dead letters.
 */
final class JournalRestorer implements JournalOperations {

    private static final int PAGE = 1000;

    /** Keys of messages that are due soon, which are read at once. */
    private static final int KEYS = 100_000;

    /** Dead letters of one call, each of which may be large. */
    private static final int DEAD_LETTERS = 20;

    /** Messages that are due until then are restored in the order of their due times. */
    private static final Duration SOON = Duration.ofMinutes(5);

    private static final Duration COMPARISON_LIMIT = Duration.ofSeconds(10);

    private static final long SECOND = 1_000_000_000L;

    private final JournalTable table;

    private final LedgerTable ledger;

    private final OfferSender offers;

    private final RestoreOffers restoreOffers;

    private final JournalStatus status;

    private final Function<QueueName, JournalMode> modes;

    JournalRestorer(JournalTable table, OfferSender offers, LedgerLookup store, JournalStatus status,
            Function<QueueName, JournalMode> modes) {
        this.table = table;
        this.ledger = new LedgerTable(table.database());
        this.offers = offers;
        this.restoreOffers = new RestoreOffers(table, offers, store, status, true);
        this.status = status;
        this.modes = modes;
    }

    @Override
    public boolean covers(String queue) {
        return this.modes.apply(new QueueName(queue)) == JournalMode.LEDGER;
    }

    /**
     * Returns until when messages of queues are due soon, in milliseconds since the
     * epoch. Due times are on the clock of the store, and never compared with that of the
     * database. If the queues are on several servers, the latest time counts.
     */
    long horizon(Collection<QueueName> queues) {
        long latest = 0;
        RuntimeException failure = null;
        for (QueueName queue : queues) {
            try {
                latest = Math.max(latest, this.offers.now(queue));
            }
            catch (RuntimeException ex) {
                failure = ex; // of one server, maybe
            }
        }
        if (latest == 0 && failure != null) {
            throw failure;
        }
        return latest + SOON.toMillis();
    }

    /**
     * Restores the messages of a plan. Each page is read while that before is offered,
     * except for a plan with a rate.
     */
    @Override
    public RestoreReport restore(RestorePlan plan) {
        awaitComparison(plan);
        RestoreSelection selection = RestoreSelection.of(plan);
        ExecutorService reader = Executors
            .newSingleThreadExecutor(new CustomizableThreadFactory("delayqueue-restore-"));
        try {
            PageReader pages = new PageReader(selection, KEYS);
            RestoreReport report = RestoreReport.NONE;
            RestorePage page = answered(() -> pages.read(start(plan), limit(plan)));
            while (true) {
                RestoreCursor next = page.next();
                CompletableFuture<RestorePage> read = (next == null || isPaced(plan)) ? null
                        : CompletableFuture.supplyAsync(() -> pages.read(next, limit(plan)), reader);
                report = report.plus(offer(plan, page));
                if (next == null || Thread.currentThread().isInterrupted()) {
                    return report;
                }
                page = answered(() -> (read != null) ? joined(read) : pages.read(next, limit(plan)));
            }
        }
        finally {
            reader.shutdown();
        }
    }

    private static RestorePage joined(CompletableFuture<RestorePage> page) {
        try {
            return page.join();
        }
        catch (CompletionException ex) {
            throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
        }
    }

    @Override
    public RestoreStep restore(RestorePlan plan, @Nullable String cursor) {
        awaitComparison(plan);
        RestoreCursor start = (cursor != null) ? RestoreCursor.parse(cursor) : answered(() -> start(plan));
        PageReader pages = new PageReader(RestoreSelection.of(plan), limit(plan));
        RestorePage page = answered(() -> pages.read(start, limit(plan)));
        for (RestoreCursor next = page.next(); page.size() == 0 && next != null; next = page.next()) {
            RestoreCursor part = next;
            page = answered(() -> pages.read(part, limit(plan)));
        }
        return new RestoreStep(offer(plan, page), RestoreCursor.text(page.next()));
    }

    private RestoreCursor start(RestorePlan plan) {
        return (plan.id() != null) ? RestoreCursor.start(0).nextPart() : RestoreCursor.start(horizon(queues(plan)));
    }

    /**
     * Waits before rows are read: the store rejects those that were read a while ago. A
     * node that has not used a queue compares it as soon as this call waits for that.
     */
    private void awaitComparison(RestorePlan plan) {
        if (plan.queue() == null) {
            answered(() -> queues(plan)).forEach(this::isLeftAlone);
            return;
        }
        QueueName queue = new QueueName(plan.queue());
        String reason = this.offers.isLedger(queue) ? reasonToLeaveAlone(queue) : null;
        if (reason != null && this.status.isLeftAlone(queue)) {
            throw new RestoreRefusedException("Queue '%s' is not restored: %s".formatted(queue, reason));
        }
        if (reason != null) {
            throw new StoreUnavailableException("Queue '%s' cannot be restored now: %s".formatted(queue, reason),
                    Effect.NONE, null);
        }
    }

    /** Returns the ledgers of a plan that have rows. */
    private List<QueueName> queues(RestorePlan plan) {
        return this.table.queues()
            .stream()
            .filter((queue) -> plan.queue() == null || plan.queue().equals(queue.value()))
            .filter(this.offers::isLedger)
            .toList();
    }

    private static int limit(RestorePlan plan) {
        return isPaced(plan) ? Math.min(plan.rate(), PAGE) : PAGE;
    }

    private static boolean isPaced(RestorePlan plan) {
        return plan.rate() > 0 && !plan.dryRun();
    }

    private static <T> T answered(Supplier<T> read) {
        try {
            return read.get();
        }
        catch (DataAccessException | TransactionException ex) {
            throw new StoreUnavailableException("The database of the journal does not answer: " + ex.getMessage(),
                    Effect.NONE, ex);
        }
        catch (CompletionException ex) {
            throw (StoreFailures.unwrap(ex) instanceof RuntimeException cause) ? cause : ex;
        }
    }

    /** Returns a reader of the pages of a restore. */
    PageReader reader(RestoreSelection selection) {
        return new PageReader(selection, KEYS);
    }

    /**
     * Reads the rows of keys. The time limit of their offers begins here, as the search
     * for the keys may take long.
     * @param last whether there are no more keys
     */
    private RestorePage soon(List<DueRevision> keys, boolean last, RestoreCursor cursor) {
        long begin = System.nanoTime();
        if (keys.isEmpty()) {
            return new RestorePage(List.of(), null, List.of(), begin, last ? cursor.nextPart() : cursor);
        }
        List<JournalRow> rows = this.table.accepted(keys);
        DueRevision end = keys.get(keys.size() - 1);
        boolean complete = rows.stream().mapToLong(JournalRow::size).sum() < JournalTable.BYTES_LIMIT;
        if (!complete) {
            long revision = rows.get(rows.size() - 1).revision();
            end = keys.stream().filter((key) -> key.revision() == revision).findFirst().orElse(end);
        }
        return new RestorePage(rows, null, List.of(), begin,
                (last && complete) ? cursor.nextPart() : cursor.behind(end.due(), end.revision()));
    }

    private RestorePage later(RestoreSelection selection, RestoreCursor cursor, int limit, long begin) {
        Instant dueBefore = selection.dueBefore();
        boolean none = dueBefore != null && dueBefore.toEpochMilli() <= cursor.horizon();
        List<DueRevision> unreadable = new ArrayList<>();
        List<JournalRow> rows = none ? List.of()
                : this.table.acceptedSends(selection, cursor.horizon(), cursor, limit, unreadable);
        RestoreCursor next = cursor.nextPart();
        if (!rows.isEmpty()) {
            next = cursor.behind(rows.get(rows.size() - 1));
        }
        else if (!unreadable.isEmpty()) {
            DueRevision last = unreadable.get(unreadable.size() - 1);
            next = cursor.behind(last.due(), last.revision());
        }
        return new RestorePage(rows, null, List.of(), begin, next);
    }

    /** Reads dead letters, unless a plan selects an id or a due time. */
    private RestorePage deadLetters(RestoreSelection selection, RestoreCursor cursor, long begin) {
        boolean selected = selection.id() == null && selection.dueBefore() == null;
        Optional<QueueName> next = !selected ? Optional.empty()
                : cursor.queue().isEmpty() ? this.ledger.nextQueue("") : Optional.of(new QueueName(cursor.queue()));
        while (next.isPresent()) {
            QueueName queue = next.get();
            boolean wanted = selection.queues().isEmpty() || selection.queues().contains(queue.value());
            if (wanted && !this.status.isLeftAlone(queue)) {
                String after = queue.value().equals(cursor.queue()) ? cursor.deadLetter() : "";
                List<LedgerTable.Row> page = this.ledger.deadLetters(queue, after, DEAD_LETTERS);
                if (!page.isEmpty()) {
                    String last = page.get(page.size() - 1).deadLetter().deadLetterId();
                    return new RestorePage(List.of(), queue, page, begin, cursor.behind(queue, last));
                }
            }
            next = this.ledger.nextQueue(queue.value());
        }
        return new RestorePage(List.of(), null, List.of(), begin, null);
    }

    private RestoreReport offer(RestorePlan plan, RestorePage page) {
        List<JournalRow> first = page.rows().stream().filter((row) -> !row.behind()).toList();
        Map<QueueName, Boolean> leftAlone = new HashMap<>();
        List<JournalRow> own = page.rows()
            .stream()
            .filter((row) -> !leftAlone.computeIfAbsent(row.request().queue(), this::isLeftAlone))
            .toList();
        List<JournalRow> selected = own.stream()
            .filter((row) -> !row.behind() && !answered(() -> isExpired(plan, row)))
            .toList();
        if (!plan.dryRun()) {
            answered(() -> leaveToSweep(own));
        }
        RestorePage offered = new RestorePage(selected, page.queue(), page.deadLetters(), page.readAt(), page.next());
        RestoreReport report = new RestoreReport(0, 0, first.size() - selected.size(), 0)
            .plus(plan.dryRun() ? answered(() -> count(offered)) : offer(offered));
        if (isPaced(plan)) {
            waitUntil(page.readAt() + offered.size() * SECOND / plan.rate());
        }
        return report;
    }

    /**
     * Leaves messages that follow others of their ids, or are about to be changed, to the
     * sweep: it restores them once that is over, although they may be due much later.
     * @return their number
     */
    int leaveToSweep(List<JournalRow> rows) {
        List<JournalRow> behind = rows.stream().filter(JournalRow::behind).toList();
        this.table.checkSoon(behind);
        return behind.size();
    }

    /** Counts the messages that the store does not know; dead letters all count. */
    private RestoreReport count(RestorePage page) {
        return this.restoreOffers.count(page.rows()).join().plus(new RestoreReport(page.deadLetters().size(), 0, 0, 0));
    }

    /** Offers a page to the store, and waits for the answers. */
    RestoreReport offer(RestorePage page) {
        RestoreReport report = this.restoreOffers
            .offerAndWait(page.rows().stream().filter((row) -> !row.behind()).toList(), page.readAt());
        QueueName queue = page.queue();
        return (queue != null) ? report.plus(this.restoreOffers.offer(queue, page.deadLetters(), page.readAt()).join())
                : report;
    }

    private static void waitUntil(long time) {
        for (long rest = time - System.nanoTime(); rest > 0
                && !Thread.currentThread().isInterrupted(); rest = time - System.nanoTime()) {
            LockSupport.parkNanos(rest);
        }
    }

    private boolean isExpired(RestorePlan plan, JournalRow row) {
        NewMessage message = row.request().message();
        if (plan.includeExpired() || message == null || message.timeToLive() == null) {
            return false;
        }
        return message.due().millis() + message.timeToLive().toMillis() < this.offers.now(row.request().queue());
    }

    /** Waits a while until a ledger is compared, at the start of a process. */
    private boolean isLeftAlone(QueueName queue) {
        return reasonToLeaveAlone(queue) != null;
    }

    private @Nullable String reasonToLeaveAlone(QueueName queue) {
        try {
            boolean concerned = this.status.isLeftAlone(queue) || this.offers.isLedger(queue);
            return concerned ? this.status.unpaired(queue, COMPARISON_LIMIT) : null;
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return "the thread was interrupted";
        }
    }

    /**
     * Reads the pages of one restore. The keys of messages that are due soon are searched
     * for many pages at once, as no index has the due times.
     */
    final class PageReader {

        private final RestoreSelection selection;

        private final int keysLimit;

        /** The search for further keys; {@code null} if it has ended. */
        private @Nullable DueSoonKeys search;

        private List<DueRevision> keys = List.of();

        private int position;

        private boolean last;

        /**
         * Creates a reader.
         * @param keysLimit the maximum number of keys of a search
         */
        PageReader(RestoreSelection selection, int keysLimit) {
            this.selection = selection;
            this.keysLimit = keysLimit;
        }

        RestorePage read(RestoreCursor cursor) {
            return read(cursor, PAGE);
        }

        /**
         * Reads a page, which is empty while a search has not ended.
         * @param cursor the begin of a restore, or of the step that follows the last page
         */
        RestorePage read(RestoreCursor cursor, int limit) {
            long begin = System.nanoTime();
            return switch (cursor.part()) {
                case SOON -> (this.position < this.keys.size() || hasSearched(cursor)) ? soon(cursor, limit)
                        : new RestorePage(List.of(), null, List.of(), begin, cursor);
                case LATER -> later(this.selection, cursor, limit, begin);
                case DEAD_LETTERS -> deadLetters(this.selection, cursor, begin);
            };
        }

        /** Makes a step of a search, and returns whether it was the last one. */
        private boolean hasSearched(RestoreCursor cursor) {
            DueSoonKeys present = this.search;
            if (present == null) {
                present = new DueSoonKeys(JournalRestorer.this.table, this.selection, cursor, this.keysLimit);
                this.search = present;
            }
            if (present.step()) {
                return false;
            }
            this.keys = present.keys();
            this.position = 0;
            this.last = this.keys.size() < this.keysLimit;
            this.search = null;
            return true;
        }

        private RestorePage soon(RestoreCursor cursor, int limit) {
            int end = Math.min(this.position + limit, this.keys.size());
            RestorePage page = JournalRestorer.this.soon(this.keys.subList(this.position, end),
                    this.last && end == this.keys.size(), cursor);
            RestoreCursor next = page.next();
            while (this.position < end && (next == null || isBehind(this.keys.get(this.position), next))) {
                this.position++;
            }
            return page;
        }

        private static boolean isBehind(DueRevision key, RestoreCursor cursor) {
            return cursor.part() != RestoreCursor.Part.SOON || key.due() < cursor.position()
                    || (key.due() == cursor.position() && key.revision() <= cursor.revision());
        }

    }

}
