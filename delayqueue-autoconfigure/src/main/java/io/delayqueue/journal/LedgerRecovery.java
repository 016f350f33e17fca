package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.delayqueue.LedgerRestoredEvent;
import io.delayqueue.QueueName;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the store into agreement with the ledgers of queues of which it has lost data,
 * in steps of a page. Each queue is {@linkplain LedgerPreparation prepared} by itself.
 * Queues that are prepared are restored together: messages that are due soon, in the
 * order of their due times, after which the queues are resumed, and then the others and
 * the dead letters. A queue of which the store does not answer in time continues
 * separately.
 * <p>
 * Messages are restored once more after the time of a claim: a request may have been
 * applied before the loss, and its row changed only after it was read here.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler, which does not wait for
 * the store between two steps.
 */
final class LedgerRecovery {

    private static final Logger logger = LoggerFactory.getLogger(LedgerRecovery.class);

    /** How long a recovery rests of which some messages failed. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(10);

    /** How long queues wait for others that are restored with them. */
    private static final Duration COMPANY_LIMIT = Duration.ofMillis(500);

    private final JournalTable table;

    private final OfferSender offers;

    private final LedgerLookup store;

    private final JournalRestorer restorer;

    private final RestoreOffers restoreOffers;

    private final JournalStatus status;

    private final ReconcilerProblems problems;

    private final RestorePauses pauses;

    private final Executor thread;

    private final Consumer<Object> publisher;

    /** The queues that are to be prepared, and when, by the monotonic clock. */
    private final Map<QueueName, Long> lost = new HashMap<>();

    private final Set<QueueName> preparing = new HashSet<>();

    /** The queues that are to be restored next. */
    private final Set<QueueName> prepared = new LinkedHashSet<>();

    /** When the first of them was prepared, in nanoseconds of the monotonic clock. */
    private long preparedSince;

    private final Set<RestoreRun> runs = new LinkedHashSet<>();

    /** The queues that are to be restored once more, and when. */
    private final Map<QueueName, Long> repeated = new HashMap<>();

    /** Those of them that are to be restored once more in the next round, together. */
    private final Set<QueueName> again = new LinkedHashSet<>();

    /** The messages that were restored of queues whose restore was ended early. */
    private final Map<QueueName, Long> uncounted = new HashMap<>();

    /** The entries of the store that are reported once their queue is restored. */
    private final Map<Partition, Set<LedgerEntry>> entries = new HashMap<>();

    LedgerRecovery(JournalTable table, OfferSender offers, LedgerLookup store, JournalRestorer restorer,
            ReconcilerProblems problems, RestorePauses pauses, JournalStatus status, Executor thread,
            Consumer<Object> publisher) {
        this.table = table;
        this.offers = offers;
        this.store = store;
        this.restorer = restorer;
        this.restoreOffers = new RestoreOffers(table, offers, store, status, true);
        this.status = status;
        this.problems = problems;
        this.pauses = pauses;
        this.thread = thread;
        this.publisher = publisher;
    }

    /** Adds a queue of which the store may have lost data. */
    void lost(QueueName queue) {
        this.lost.putIfAbsent(queue, System.nanoTime());
    }

    /**
     * Adds the queue of a partition that asks for it by an entry, which remains until the
     * queue is restored.
     */
    void lost(Partition partition, LedgerEntry entry) {
        if (this.entries.computeIfAbsent(partition, (each) -> new LinkedHashSet<>()).add(entry)) {
            lost(partition.queue());
        }
    }

    /** Forgets all queues but some, except for restores in progress. */
    void retain(Set<QueueName> queues) {
        this.repeated.keySet().retainAll(queues);
        this.again.retainAll(queues);
        this.uncounted.keySet().retainAll(queues);
        this.entries.keySet().removeIf((partition) -> !queues.contains(partition.queue()));
        List.copyOf(this.lost.keySet()).stream().filter((queue) -> !queues.contains(queue)).forEach((queue) -> {
            this.lost.remove(queue);
            this.problems.over(part(queue));
            resume(queue);
        });
    }

    /** Returns whether a queue is being restored, or is to be restored once more. */
    boolean isConcerned(QueueName queue) {
        return isPending(queue) || this.repeated.containsKey(queue) || this.again.contains(queue)
                || this.entries.keySet().stream().anyMatch((partition) -> partition.queue().equals(queue));
    }

    /** Returns the entries of a partition that is not restored yet. */
    List<LedgerEntry> held(Partition partition) {
        return isPending(partition.queue()) ? List.copyOf(this.entries.getOrDefault(partition, Set.of())) : List.of();
    }

    /** Removes and returns the entries of a partition that is restored. */
    List<LedgerEntry> restored(Partition partition) {
        Set<LedgerEntry> restored = isPending(partition.queue()) ? null : this.entries.remove(partition);
        return (restored != null) ? List.copyOf(restored) : List.of();
    }

    private boolean isPending(QueueName queue) {
        return this.lost.containsKey(queue) || this.preparing.contains(queue) || this.prepared.contains(queue)
                || this.runs.stream().anyMatch((run) -> run.contains(queue));
    }

    /**
     * Prepares a queue whose partitions have all answered, or restores it once more, if
     * it is time.
     */
    void reached(QueueName queue) {
        if (isTime(this.repeated.get(queue)) && !isPending(queue)) {
            this.repeated.remove(queue);
            this.again.add(queue);
        }
        if (isTime(this.lost.get(queue)) && this.preparing.add(queue)) {
            this.lost.remove(queue);
            this.prepared.remove(queue);
            this.again.remove(queue);
            List.copyOf(this.runs).forEach((run) -> leave(run, queue));
            report();
            new LedgerPreparation(queue, this.table, this.offers, this.store, this.pauses, this.status, this.thread)
                .run()
                .whenCompleteAsync((done, failure) -> prepared(queue, failure), this.thread);
        }
    }

    private static boolean isTime(@Nullable Long time) {
        return time != null && System.nanoTime() - time >= 0;
    }

    private void prepared(QueueName queue, @Nullable Throwable failure) {
        this.preparing.remove(queue);
        if (this.status.isLeftAlone(queue)) {
            retry(queue);
        }
        else if (failure != null) {
            fail(queue, failure);
        }
        else {
            if (this.prepared.isEmpty()) {
                this.preparedSince = System.nanoTime();
            }
            this.prepared.add(queue);
        }
        begin();
        report();
    }

    /** Begins restores, and separates queues of which the store does not answer. */
    void round() {
        begin();
        report();
        if (!this.again.isEmpty()) {
            begin(List.copyOf(this.again), false);
            this.again.clear();
        }
        for (RestoreRun run : List.copyOf(this.runs)) {
            List<QueueName> silent = run.silent(COMPANY_LIMIT.toNanos());
            if (!silent.isEmpty()) {
                this.runs.add(run.split(silent, this.restorer.reader(RestoreSelection.of(silent))));
                continueAnswered(run);
            }
        }
    }

    /** Restores the prepared queues together, and waits a while for others. */
    private void begin() {
        boolean waits = !this.preparing.isEmpty() && System.nanoTime() - this.preparedSince < COMPANY_LIMIT.toNanos();
        if (!this.prepared.isEmpty() && !waits) {
            List<QueueName> queues = List.copyOf(this.prepared);
            this.prepared.clear();
            begin(queues, true);
        }
    }

    private void begin(List<QueueName> queues, boolean first) {
        try {
            RestoreRun run = new RestoreRun(queues, first, this.restorer.reader(RestoreSelection.of(queues)),
                    RestoreCursor.start(this.restorer.horizon(queues)));
            for (QueueName queue : queues) {
                Long restored = this.uncounted.remove(queue);
                run.answered(queue, new RestoreReport((restored != null) ? restored : 0, 0, 0, 0));
            }
            this.runs.add(run);
            this.thread.execute(() -> step(run, this::offer));
        }
        catch (Throwable ex) {
            queues.forEach((queue) -> fail(queue, ex));
        }
    }

    /** Makes a step of a restore. If it fails, all queues are restored again later. */
    private void step(RestoreRun run, Consumer<RestoreRun> step) {
        Set<QueueName> queues = run.queues();
        try {
            step.accept(run);
        }
        catch (Throwable ex) {
            if (this.runs.contains(run)) {
                end(run);
                queues.forEach((queue) -> leaveEarly(run, queue));
            }
            queues.forEach((queue) -> fail(queue, ex));
        }
    }

    /** Offers the next page of a restore. */
    private void offer(RestoreRun run) {
        if (this.status.older() != null || run.queues().isEmpty()) {
            Set<QueueName> queues = end(run);
            queues.forEach((queue) -> leaveEarly(run, queue));
            queues.forEach(this::retry);
            return;
        }
        RestorePage page = run.read();
        this.restorer.leaveToSweep(page.rows());
        Map<QueueName, List<JournalRow>> rows = new LinkedHashMap<>();
        page.rows()
            .stream()
            .filter((row) -> !row.behind() && isRestored(run, row.request().queue()))
            .forEach((row) -> rows.computeIfAbsent(row.request().queue(), (each) -> new ArrayList<>()).add(row));
        rows.forEach((queue, each) -> await(run, queue, this.restoreOffers.offer(each, page.readAt(), this.thread)));
        QueueName queue = page.queue();
        if (queue != null && isRestored(run, queue)) {
            await(run, queue, this.restoreOffers.offer(queue, page.deadLetters(), page.readAt()));
        }
        continueAnswered(run);
    }

    private boolean isRestored(RestoreRun run, QueueName queue) {
        return run.contains(queue) && !this.status.isLeftAlone(queue);
    }

    private void await(RestoreRun run, QueueName queue, CompletableFuture<RestoreReport> offer) {
        run.offered(queue, offer);
        offer.whenCompleteAsync((report, failure) -> answered(queue, offer, report, failure), this.thread);
    }

    /** Continues a restore whose offer of messages of a queue has ended. */
    private void answered(QueueName queue, CompletableFuture<RestoreReport> offer, @Nullable RestoreReport report,
            @Nullable Throwable failure) {
        for (RestoreRun run : List.copyOf(this.runs)) {
            if (!run.isWaitingFor(queue, offer)) {
                continue;
            }
            if (report != null) {
                run.answered(queue, report);
            }
            else {
                leaveEarly(run, queue);
                fail(queue, (failure != null) ? failure : new IllegalStateException("no answer"));
            }
            continueAnswered(run);
        }
    }

    /** Continues a restore if it has the answers to a page. */
    private void continueAnswered(RestoreRun run) {
        if (!run.isWaiting()) {
            step(run, this::next);
        }
    }

    private void next(RestoreRun run) {
        if (run.isFirst() && run.hasEndedSoon()) {
            run.queues().stream().filter((queue) -> !run.hasFailed(queue)).forEach(this::resume);
        }
        if (!run.isLast()) {
            this.thread.execute(() -> step(run, this::offer));
            return;
        }
        RestoreReport report = run.report();
        Set<QueueName> queues = end(run);
        if (report.restored() > 0) {
            logger.warn("Redis had lost messages of queues {}: they were restored from the journal: {}", queues,
                    report);
            publish(queues, report);
        }
        long time = System.nanoTime() + this.table.claim().toNanos();
        for (QueueName queue : queues) {
            if (run.hasFailed(queue)) {
                retry(queue);
                continue;
            }
            this.problems.over(part(queue));
            if (run.isFirst()) {
                resume(queue);
                this.repeated.put(queue, time);
            }
        }
    }

    private void publish(Set<QueueName> queues, RestoreReport report) {
        List<String> names = queues.stream().map(QueueName::value).sorted().toList();
        try {
            this.publisher.accept(new LedgerRestoredEvent(names, report.restored()));
        }
        catch (RuntimeException | Error ex) {
            logger.error("A listener of LedgerRestoredEvent failed", ex);
        }
    }

    /**
     * Reports the queues whose restore is not complete, or waits to be tried again,
     * without repetitions.
     */
    private void report() {
        Set<String> names = new TreeSet<>();
        Stream.of(this.lost.keySet(), this.preparing, this.prepared)
            .flatMap(Set::stream)
            .map(QueueName::value)
            .forEach(names::add);
        this.runs.stream()
            .filter(RestoreRun::isFirst)
            .flatMap((run) -> run.queues().stream())
            .map(QueueName::value)
            .forEach(names::add);
        this.status.restoring(names);
    }

    private Set<QueueName> end(RestoreRun run) {
        this.runs.remove(run);
        report();
        return run.queues();
    }

    private void leaveEarly(RestoreRun run, QueueName queue) {
        long restored = run.leave(queue);
        if (restored > 0) {
            this.uncounted.merge(queue, restored, Long::sum);
        }
    }

    /** Ends the part of a queue in a restore. */
    private void leave(RestoreRun run, QueueName queue) {
        if (run.contains(queue)) {
            boolean waited = run.isWaiting();
            leaveEarly(run, queue);
            if (waited) {
                continueAnswered(run);
            }
        }
    }

    private void resume(QueueName queue) {
        this.pauses.end(queue).whenCompleteAsync((done, failure) -> {
            if (failure != null) {
                fail(queue, failure);
            }
        }, this.thread);
    }

    private void fail(QueueName queue, Throwable failure) {
        this.problems.failed(part(queue), failure);
        retry(queue);
    }

    private void retry(QueueName queue) {
        this.lost.merge(queue, System.nanoTime() + RETRY_DELAY.toNanos(),
                (one, other) -> (one - other <= 0) ? one : other);
    }

    private static String part(QueueName queue) {
        return "the restore of queue '%s'".formatted(queue);
    }

}
