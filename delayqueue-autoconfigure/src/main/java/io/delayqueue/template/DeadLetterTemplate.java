package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterBulkResult;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.FailureEffects;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;

/** Lists, redrives and purges the dead letters of one queue in the store. */
final class DeadLetterTemplate implements DeadLetterOperations {

    private static final int MAX_PAGE = 100;

    /** Number of partitions read concurrently, as each may return a mebibyte. */
    private static final int AT_ONCE = 8;

    private final QueueName queue;

    private final PartitionRouter router;

    private final MessageStore store;

    private final MessageInspector inspector;

    private final BlockingStoreCalls calls;

    DeadLetterTemplate(QueueName queue, StoreComponents components, PartitionRouter router, BlockingStoreCalls calls) {
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
        return this.calls.await(this.router.redrive(this.queue, deadLetterId), "redrive");
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
            throw (redriven > 0) ? FailureEffects.partly(ex) : ex;
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
            throw (purged > 0) ? FailureEffects.partly(ex) : ex;
        }
    }

    @Override
    public DeadLetterBulkResult count(DeadLetterFilter filter, @Nullable String cursor) {
        return new DeadLetterScan(filter, this::list).go(cursor, MOST_OF_A_SWEEP, (meant) -> 0L);
    }

    @Override
    public DeadLetterBulkResult redrive(DeadLetterFilter filter, @Nullable String cursor) {
        return new DeadLetterScan(filter, this::list).go(cursor, MOST_OF_A_SWEEP, this::redriveEach);
    }

    private long redriveEach(List<DeadLetter> letters) {
        return this.calls.awaitAll(letters, "redrive", (letter) -> this.router.redrive(this.queue, letter.id()))
            .stream()
            .filter(RedriveResult.REDRIVEN::equals)
            .count();
    }

    @Override
    public DeadLetterBulkResult purge(DeadLetterFilter filter, @Nullable String cursor) {
        return new DeadLetterScan(filter, this::list).go(cursor, MOST_OF_A_SWEEP, this::purgeEach);
    }

    private long purgeEach(List<DeadLetter> letters) {
        return this.calls.awaitAll(letters, "purge", (letter) -> this.router.purge(this.queue, letter.id()))
            .stream()
            .filter(Boolean.TRUE::equals)
            .count();
    }

    private List<Partition> partitions() {
        return this.calls.await(this.router.recorded(this.queue), "partitions");
    }

}
