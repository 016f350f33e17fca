package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterBulkResult;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.journal.Journal;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;

/** Lists, redrives and purges the dead letters of one queue in the store. */
final class DeadLetterTemplate implements DeadLetterOperations {

    private static final int MAX_PAGE = 100;

    /** Number of partitions read concurrently, as each may return a mebibyte. */
    private static final int AT_ONCE = 8;

    private static final int SCAN_PAGE = 100;

    private final QueueName queue;

    private final PartitionRouter router;

    private final MessageStore store;

    private final MessageInspector inspector;

    private final BlockingStoreCalls calls;

    private final @Nullable Journal journal;

    DeadLetterTemplate(QueueName queue, StoreComponents components, PartitionRouter router, BlockingStoreCalls calls,
            @Nullable Journal journal) {
        this.journal = journal;
        this.queue = queue;
        this.router = router;
        this.store = components.messages();
        this.inspector = components.inspector();
        this.calls = calls;
    }

    @Override
    public DeadLetterPage list(@Nullable String cursor, int limit) {
        if (limit < 1 || limit > MAX_PAGE) {
            throw new IllegalArgumentException("Limit %d is not valid: use 1 to %d".formatted(limit, MAX_PAGE));
        }
        List<Partition> partitions = partitions();
        DeadLetterPage page = null;
        for (int i = 0; i < partitions.size(); i += AT_ONCE) {
            List<DeadLetterPage> pages = pages(partitions.subList(i, Math.min(i + AT_ONCE, partitions.size())), cursor,
                    limit);
            page = DeadLetterCursor
                .merge((page == null) ? pages : Stream.concat(Stream.of(page), pages.stream()).toList(), limit);
        }
        return Objects.requireNonNull(page);
    }

    private List<DeadLetterPage> pages(List<Partition> partitions, @Nullable String cursor, int limit) {
        List<CompletableFuture<DeadLetterPage>> pages = partitions.stream()
            .map((partition) -> this.inspector.deadLetters(partition, cursor, limit))
            .toList();
        return pages.stream().map((page) -> this.calls.await(page, "deadLetters")).toList();
    }

    @Override
    public Optional<DeadLetter> find(String deadLetterId) {
        return this.calls.await(this.router.deadLetter(this.queue, deadLetterId), "deadLetter");
    }

    @Override
    public RedriveResult redrive(String deadLetterId) {
        return this.calls.await(redriven(deadLetterId), "redrive");
    }

    /** Records the message in the journal first, if the queue has one. */
    private CompletableFuture<RedriveResult> redriven(String deadLetterId) {
        Journal recorder = this.journal;
        return (recorder == null) ? this.router.redrive(this.queue, deadLetterId)
                : this.router.redrive(this.queue, deadLetterId, (message) -> recorder.sendAlone(this.queue, message));
    }

    /**
     * Proceeds from the most recently dead-lettered message to the oldest. Messages that
     * are dead-lettered in the meantime are more recent than all of these, so this always
     * terminates.
     */
    @Override
    public long redriveAll() {
        long redriven = 0;
        String cursor = null;
        try {
            do {
                DeadLetterPage page = list(cursor, MAX_PAGE);
                redriven += redriveEach(page.deadLetters());
                cursor = page.nextCursor();
            }
            while (cursor != null);
            return redriven;
        }
        catch (DelayQueueException ex) {
            throw (redriven > 0) ? StoreFailures.partly(ex) : ex;
        }
    }

    @Override
    public boolean purge(String deadLetterId) {
        return this.calls.await(this.router.purge(this.queue, deadLetterId), "purge");
    }

    @Override
    public long purgeAll() {
        long purged = 0;
        try {
            for (Partition partition : partitions()) {
                int last;
                do {
                    last = this.calls.await(this.store.purgeOlderThan(partition, Duration.ZERO), "purgeOlderThan");
                    purged += last;
                }
                while (last == MessageStore.BATCH_LIMIT);
            }
            return purged;
        }
        catch (DelayQueueException ex) {
            throw (purged > 0) ? StoreFailures.partly(ex) : ex;
        }
    }

    @Override
    public DeadLetterBulkResult count(DeadLetterFilter filter, @Nullable String cursor) {
        return new Scan(filter).run(cursor, MAX_PER_STEP, (matching) -> 0L);
    }

    @Override
    public DeadLetterBulkResult redrive(DeadLetterFilter filter, @Nullable String cursor) {
        return new Scan(filter).run(cursor, MAX_PER_STEP, this::redriveEach);
    }

    private long redriveEach(List<DeadLetter> deadLetters) {
        return this.calls.awaitAll(deadLetters, "redrive", (deadLetter) -> redriven(deadLetter.id()))
            .stream()
            .filter(RedriveResult.REDRIVEN::equals)
            .count();
    }

    @Override
    public DeadLetterBulkResult purge(DeadLetterFilter filter, @Nullable String cursor) {
        return new Scan(filter).run(cursor, MAX_PER_STEP, this::purgeEach);
    }

    private long purgeEach(List<DeadLetter> deadLetters) {
        return this.calls.awaitAll(deadLetters, "purge", (deadLetter) -> this.router.purge(this.queue, deadLetter.id()))
            .stream()
            .filter(Boolean.TRUE::equals)
            .count();
    }

    private List<Partition> partitions() {
        return this.calls.await(this.router.recorded(this.queue), "partitions");
    }

    /**
     * Runs one step of a bulk operation: reads dead letters page by page and processes
     * those that match a filter. Used by one thread.
     */
    private final class Scan {

        private final DeadLetterFilter filter;

        private long examined;

        private long matched;

        private long changed;

        Scan(DeadLetterFilter filter) {
            this.filter = filter;
        }

        /**
         * Examines at most {@code most} dead letters.
         * @param act processes those that match; returns how many it changed
         */
        DeadLetterBulkResult run(@Nullable String from, int most, Function<List<DeadLetter>, Long> act) {
            try {
                return process(from, most, act);
            }
            catch (DelayQueueException ex) {
                throw (this.changed > 0) ? StoreFailures.partly(ex) : ex;
            }
        }

        private DeadLetterBulkResult process(@Nullable String from, int most, Function<List<DeadLetter>, Long> act) {
            String cursor = start(from);
            while (true) {
                DeadLetterPage page = list(cursor, SCAN_PAGE);
                List<DeadLetter> matching = page.deadLetters().stream().filter(this.filter::matches).toList();
                this.examined += page.deadLetters().size();
                this.matched += matching.size();
                this.changed += act.apply(matching);
                cursor = isBehind(page) ? null : page.nextCursor();
                if (cursor == null || this.examined >= most) {
                    return new DeadLetterBulkResult(this.examined, this.matched, this.changed, cursor);
                }
            }
        }

        /** Skips dead letters that are too recent to match. */
        private @Nullable String start(@Nullable String from) {
            Instant before = this.filter.deadLetteredBefore();
            return (from == null && before != null) ? DeadLetterCursor.before(before) : from;
        }

        /** Returns whether all following dead letters are too old to match. */
        private boolean isBehind(DeadLetterPage page) {
            Instant from = this.filter.deadLetteredFrom();
            List<DeadLetter> deadLetters = page.deadLetters();
            return from != null && !deadLetters.isEmpty()
                    && deadLetters.get(deadLetters.size() - 1).deadLetteredAt().isBefore(from);
        }

    }

}
