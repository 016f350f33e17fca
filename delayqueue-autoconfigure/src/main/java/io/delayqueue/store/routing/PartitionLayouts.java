package io.delayqueue.store.routing;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.ResumeResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.LogExecutor;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StaleLayoutException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caches the layouts of queues. A layout is read at the first use of its queue, and again
 * when the store rejects a call or a claim returns a later version; otherwise a use
 * refreshes it once a minute.
 * <p>
 * A version is returned only after every partition has recorded it. After that, no
 * process can add messages by an older version.
 * <p>
 * <strong>Threads.</strong> Any. The layout of a queue is an atomic reference whose
 * version only increases; at most one read per queue is in progress. Watchers are
 * notified on the thread that read, which must not be blocked.
 */
public final class PartitionLayouts {

    private static final Logger logger = LoggerFactory.getLogger(PartitionLayouts.class);

    private static final long MAX_AGE = Duration.ofMinutes(1).toNanos();

    /**
     * Bounds the memory, as callers may invent queue names. Beyond it, layouts without a
     * watcher are dropped.
     */
    private static final int MAX_QUEUES = 10_000;

    private static final int MAX_CONFLICTS = 10;

    private final PartitionLayoutStore records;

    private final ToIntFunction<QueueName> configured;

    private final LongSupplier nanoTime;

    private final int maxQueues;

    private final LogExecutor log = new LogExecutor();

    private final ConcurrentMap<QueueName, CachedLayout> entries = new ConcurrentHashMap<>();

    /**
     * Creates an empty cache.
     * @param records the store of the layouts
     * @param configured the number of partitions for the first use of a queue; 0 if not
     * configured
     * @param nanoTime the monotonic clock
     */
    public PartitionLayouts(PartitionLayoutStore records, ToIntFunction<QueueName> configured, LongSupplier nanoTime) {
        this(records, configured, nanoTime, MAX_QUEUES);
    }

    PartitionLayouts(PartitionLayoutStore records, ToIntFunction<QueueName> configured, LongSupplier nanoTime,
            int maxQueues) {
        this.maxQueues = maxQueues;
        this.records = records;
        this.configured = configured;
        this.nanoTime = nanoTime;
    }

    /** Returns the layout of a queue from the cache, or else reads it. */
    public CompletableFuture<PartitionLayout> of(QueueName queue) {
        CachedLayout entry = entry(queue);
        Known known = entry.known.get();
        if (known == null) {
            return read(queue);
        }
        if (this.nanoTime.getAsLong() - known.readAt() > MAX_AGE) {
            entry.known.compareAndSet(known, new Known(known.answer(), known.partitions(), this.nanoTime.getAsLong()));
            readInPassing(queue);
        }
        return known.answer();
    }

    /** Reads the recorded layout. */
    public CompletableFuture<PartitionLayout> read(QueueName queue) {
        CachedLayout entry = entry(queue);
        CompletableFuture<PartitionLayout> mine = new CompletableFuture<>();
        CompletableFuture<PartitionLayout> other = entry.reading.compareAndExchange(null, mine);
        if (other != null) {
            return other;
        }
        StoreFutures.send(() -> recorded(queue)).whenComplete((partitions, failure) -> {
            PartitionLayout known = null;
            Throwable reason = failure;
            try {
                known = (failure == null) ? learn(queue, entry, partitions) : null;
            }
            catch (Throwable ex) {
                reason = ex; // thrown by a watcher, must not prevent later reads
            }
            finally {
                entry.reading.set(null);
            }
            if (known != null) {
                mine.complete(known);
            }
            else {
                mine.completeExceptionally(withoutEffect(queue, reason));
            }
        });
        return mine;
    }

    /**
     * Reads the recorded layout after a partition rejected a call. If that partition has
     * a later version than the first one, the first one has lost its record, which is
     * then restored.
     * @param refusal the failure of the call
     */
    CompletableFuture<PartitionLayout> read(QueueName queue, Throwable refusal) {
        StaleLayoutException.recordedIn(refusal).ifPresent((reported) -> report(queue, reported));
        return read(queue);
    }

    private void report(QueueName queue, PartitionLayout reported) {
        entry(queue).reported.accumulateAndGet(reported,
                (before, now) -> (before == null || before.version() < now.version()) ? now : before);
    }

    /**
     * Returns an exception with effect {@code NONE}, because the operation itself was not
     * started.
     */
    private static Throwable withoutEffect(QueueName queue, Throwable failure) {
        Throwable cause = StoreFailures.unwrap(failure);
        if (cause instanceof DelayQueueException known && known.effect() == Effect.NONE) {
            return known;
        }
        return new StoreUnavailableException(
                "The partitions of queue '%s' cannot be read, so nothing was changed; reading them failed by: %s"
                    .formatted(queue, cause.getMessage()),
                Effect.NONE, StoreFailures.beneath(cause));
    }

    /**
     * Handles the version that a claim of a partition returned; 0 for none. If it is
     * later than the cached one, reads the layout, from that partition if the first one
     * has lost it. If it is earlier although the cached layout is complete, the partition
     * has lost its record, for example in a failover: the layout is recorded there again,
     * including a pause.
     */
    public void onVersion(Partition partition, int version) {
        QueueName queue = partition.queue();
        Known known = entry(queue).known.get();
        if (known == null || version > known.partitions().version()) {
            inPassing(queue, read(queue).thenCompose((read) -> (read.version() >= version)
                    ? CompletableFuture.completedFuture(read) : readFrom(partition)));
        }
        else if (version < known.partitions().version() && known.partitions().complete()) {
            inPassing(queue, this.records.raise(partition, known.partitions()));
        }
    }

    private CompletableFuture<PartitionLayout> readFrom(Partition partition) {
        return this.records.read(partition).thenCompose((recorded) -> {
            recorded.ifPresent((reported) -> report(partition.queue(), reported));
            return read(partition.queue());
        });
    }

    /**
     * Makes a call for each partition by the cached layout, and again by the recorded one
     * if a partition has a later version.
     * @param version returns the version of the layout that a partition has
     */
    public <T> CompletableFuture<List<T>> each(QueueName queue, Function<Partition, CompletableFuture<T>> call,
            ToIntFunction<T> version) {
        return of(queue).thenCompose((cached) -> {
            CompletableFuture<List<T>> answers = StoreFutures.all(cached.all(queue).stream().map(call).toList());
            return answers.thenCompose((all) -> {
                if (all.stream().allMatch((answer) -> version.applyAsInt(answer) <= cached.version())) {
                    return answers;
                }
                return read(queue).thenCompose((read) -> StoreFutures.all(read.all(queue).stream().map(call).toList()));
            });
        });
    }

    /**
     * Notifies a watcher of the layout of a queue, now or as soon as it is known, and of
     * every later version.
     * @param watcher must not block or throw
     * @return ends the notification when run
     */
    public Runnable watch(QueueName queue, Consumer<PartitionLayout> watcher) {
        // Atomic, so that the entry cannot be dropped before it has a watcher.
        CachedLayout entry = this.entries.compute(queue, (name, there) -> {
            CachedLayout watched = (there != null) ? there : new CachedLayout();
            watched.watchers.add(watcher);
            return watched;
        });
        Known known = entry.known.get();
        if (known != null) {
            watcher.accept(known.partitions());
        }
        else {
            readInPassing(queue);
        }
        return () -> entry.watchers.remove(watcher);
    }

    /**
     * Changes the number of partitions, for all processes.
     * @return the previous number
     */
    public CompletableFuture<Integer> repartition(QueueName queue, int count) {
        return change(queue, (before) -> (before.count() == count) ? before : before.next(count))
            .thenApply(PartitionLayout::count);
    }

    /**
     * Records whether sends without a row in a journal are rejected, for all processes.
     */
    public CompletableFuture<Void> ledger(QueueName queue, boolean ledger) {
        return change(queue, (before) -> (before.ledger() == ledger) ? before : before.ofLedger(ledger))
            .thenAccept((before) -> {
            });
    }

    /** Returns the time of a partition. */
    public CompletableFuture<Instant> now(Partition partition) {
        return this.records.now(partition);
    }

    /**
     * Pauses a queue, for all processes, or changes the end of its pause. A claim that
     * starts after this has completed returns no messages.
     * @param until the end; {@code null} if the queue must be resumed explicitly
     */
    public CompletableFuture<PauseResult> pause(QueueName queue, @Nullable DueTime until) {
        return this.records.now(Partition.first(queue)).thenCompose((now) -> {
            Instant end = (until == null) ? null
                    : until.relative() ? now.plusMillis(until.millis()) : Instant.ofEpochMilli(until.millis());
            Pause pause = new Pause(end);
            return change(queue, (before) -> pause.equals(before.pause()) ? before : before.paused(pause))
                .thenApply((before) -> new PauseResult(queue.value(), isPaused(before, now), end));
        });
    }

    /**
     * Ends the pause of a queue, and publishes a wake-up. Also removes the record of a
     * pause that has already ended, because earlier versions of the library cannot read
     * it.
     */
    public CompletableFuture<ResumeResult> resume(QueueName queue) {
        return this.records.now(Partition.first(queue))
            .thenCompose((now) -> change(queue, (before) -> (before.pause() != null) ? before.paused(null) : before)
                .thenApply((before) -> isPaused(before, now) ? ResumeResult.RESUMED : ResumeResult.NOT_PAUSED));
    }

    /**
     * Pauses a queue for a time, for all processes, unless it is paused.
     * @return the pause; empty if the queue was paused before
     */
    public CompletableFuture<Optional<Pause>> pauseUnlessPaused(QueueName queue, Duration time) {
        return this.records.now(Partition.first(queue)).thenCompose((now) -> {
            Pause pause = new Pause(now.plus(time).truncatedTo(ChronoUnit.MILLIS));
            return change(queue, (before) -> isPaused(before, now) ? before : before.paused(pause))
                .thenApply((before) -> isPaused(before, now) ? Optional.empty() : Optional.of(pause));
        });
    }

    /** Ends a pause of a queue, and publishes a wake-up, unless it was changed since. */
    public CompletableFuture<Void> resume(QueueName queue, Pause pause) {
        return change(queue, (before) -> pause.equals(before.pause()) ? before.paused(null) : before)
            .thenAccept((before) -> {
            });
    }

    private static boolean isPaused(PartitionLayout partitions, Instant now) {
        Pause pause = partitions.pause();
        return pause != null && !pause.isOver(now);
    }

    /**
     * Changes the recorded layout.
     * @param step returns the next version, or its argument to change nothing
     * @return the previous layout
     */
    private CompletableFuture<PartitionLayout> change(QueueName queue, UnaryOperator<PartitionLayout> step) {
        return recorded(queue).thenCompose((before) -> change(queue, before, step, 0));
    }

    private CompletableFuture<PartitionLayout> change(QueueName queue, PartitionLayout before,
            UnaryOperator<PartitionLayout> step, int conflicts) {
        PartitionLayout next = step.apply(before);
        if (next.equals(before)) {
            return CompletableFuture.completedFuture(before);
        }
        Optional<PartitionLayout> expected = (before.version() == 0) ? Optional.empty() : Optional.of(before);
        return this.records.replace(queue, expected, next).thenCompose((recorded) -> {
            if (recorded.equals(next)) {
                // Not read(queue), which may join a read that started before this change.
                return complete(queue, recorded)
                    .exceptionallyCompose((failure) -> CompletableFuture.failedFuture(incomplete(queue, failure)))
                    .thenApply((done) -> {
                        learn(queue, entry(queue), done);
                        return before;
                    });
            }
            if (conflicts == MAX_CONFLICTS) {
                return CompletableFuture.failedFuture(new StoreUnavailableException(
                        "The partitions of queue '%s' were changed by others again and again; nothing was changed"
                            .formatted(queue),
                        Effect.NONE, null));
            }
            return complete(queue, recorded).thenCompose((other) -> change(queue, other, step, conflicts + 1));
        });
    }

    /** Returns the failure of a change that is recorded in the first partition. */
    private static Throwable incomplete(QueueName queue, Throwable failure) {
        return StoreFailures.afterEffect(
                "The change of queue '%s' is recorded, and the next process that reaches all partitions completes it"
                    .formatted(queue),
                failure);
    }

    private CompletableFuture<PartitionLayout> recorded(QueueName queue) {
        return this.records.read(Partition.first(queue)).thenCompose((recorded) -> {
            PartitionLayout latest = entry(queue).latest();
            if (latest.version() > recorded.orElse(PartitionLayout.ONE).version()) {
                return restore(queue, latest.uncompleted());
            }
            int count = this.configured.applyAsInt(queue);
            if (recorded.isPresent()) {
                return (count > 1 && recorded.get().isUnspread()) ? spread(queue, recorded.get(), count)
                        : complete(queue, recorded.get());
            }
            return (count <= 1) ? CompletableFuture.completedFuture(PartitionLayout.ONE)
                    : this.records.establish(queue, count).thenCompose((established) -> complete(queue, established));
        });
    }

    /**
     * Applies the configured number of partitions to a queue that was paused before its
     * first use.
     */
    private CompletableFuture<PartitionLayout> spread(QueueName queue, PartitionLayout recorded, int count) {
        return this.records.replace(queue, Optional.of(recorded), recorded.next(count))
            .thenCompose((now) -> complete(queue, now));
    }

    /** Restores a record that was lost in a failover or deleted. */
    private CompletableFuture<PartitionLayout> restore(QueueName queue, PartitionLayout lost) {
        return this.records.raise(Partition.first(queue), lost)
            .thenCompose((raised) -> this.records.read(Partition.first(queue)))
            .thenCompose((recorded) -> complete(queue, recorded.orElse(lost)));
    }

    /**
     * Records a version in all partitions, and then marks it as complete in the first
     * one, which has it already. Any process may do this, and may continue where another
     * one stopped. Watchers learn of the new partitions immediately, because some may
     * receive messages while another one is unreachable.
     */
    private CompletableFuture<PartitionLayout> complete(QueueName queue, PartitionLayout recorded) {
        if (recorded.complete()) {
            return CompletableFuture.completedFuture(recorded);
        }
        CachedLayout entry = entry(queue);
        Known known = entry.known.get();
        PartitionLayout ahead = (known != null) ? recorded.after(known.partitions()) : recorded;
        entry.watchers.forEach((watcher) -> watcher.accept(ahead));
        PartitionLayout completed = recorded.completed();
        List<Partition> others = completed.all(queue).stream().skip(1).toList();
        CompletableFuture<?>[] raised = others.stream()
            .map((partition) -> this.records.raise(partition, completed))
            .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(raised)
            .thenCompose((all) -> this.records.replace(queue, Optional.of(recorded), completed))
            .thenCompose((now) -> complete(queue, now));
    }

    private void readInPassing(QueueName queue) {
        inPassing(queue, read(queue));
    }

    private static void inPassing(QueueName queue, CompletableFuture<?> read) {
        read.whenComplete((done, failure) -> {
            if (failure != null) {
                logger.debug("Cannot read or restore the partitions of queue '{}'; tried again when there is occasion",
                        queue, failure);
            }
        });
    }

    private PartitionLayout learn(QueueName queue, CachedLayout entry, PartitionLayout partitions) {
        Known before = entry.known.get();
        Known read = known(partitions);
        Known after = Objects.requireNonNull(entry.known.accumulateAndGet(read, PartitionLayouts::later));
        PartitionLayout now = after.partitions();
        if (before == null || before.partitions().version() < now.version()) {
            int count = this.configured.applyAsInt(queue);
            if (count > 0 && now.count() != count && entry.warned.compareAndSet(false, true)) {
                this.log.execute(() -> logger.warn(
                        "Queue '{}' has {} partitions, as is recorded, and not {} as this application is configured "
                                + "to give it (delayqueue.queues.{}.partitions); "
                                + "DelayQueueOperations.repartition changes the number",
                        queue, now.count(), count, queue));
            }
            entry.watchers.forEach((watcher) -> watcher.accept(now));
        }
        return now;
    }

    private Known known(PartitionLayout partitions) {
        return new Known(CompletableFuture.completedFuture(partitions), partitions, this.nanoTime.getAsLong());
    }

    private static @Nullable Known later(@Nullable Known known, @Nullable Known read) {
        if (known == null || read == null) {
            return read;
        }
        if (read.partitions().version() <= known.partitions().version()) {
            return known;
        }
        PartitionLayout joined = read.partitions().after(known.partitions());
        return new Known(CompletableFuture.completedFuture(joined), joined, read.readAt());
    }

    private CachedLayout entry(QueueName queue) {
        CachedLayout entry = this.entries.get(queue);
        if (entry != null) {
            return entry;
        }
        if (this.entries.size() >= this.maxQueues) {
            this.entries.keySet()
                .forEach((name) -> this.entries.computeIfPresent(name,
                        (same, other) -> other.watchers.isEmpty() ? null : other));
        }
        return this.entries.computeIfAbsent(queue, (name) -> new CachedLayout());
    }

    /** Holds the cached layout of a queue, and its watchers. */
    private static final class CachedLayout {

        private final AtomicReference<@Nullable Known> known = new AtomicReference<>();

        /** The latest layout reported by a partition other than the first one. */
        private final AtomicReference<@Nullable PartitionLayout> reported = new AtomicReference<>();

        private final AtomicReference<@Nullable CompletableFuture<PartitionLayout>> reading = new AtomicReference<>();

        private final AtomicBoolean warned = new AtomicBoolean();

        private final List<Consumer<PartitionLayout>> watchers = new CopyOnWriteArrayList<>();

        PartitionLayout latest() {
            Known known = this.known.get();
            PartitionLayout reported = this.reported.get();
            PartitionLayout read = (known != null) ? known.partitions() : PartitionLayout.ONE;
            return (reported != null && reported.version() > read.version()) ? reported : read;
        }

    }

    /** Holds a layout, also as a completed future, and when it was read. */
    private record Known(CompletableFuture<PartitionLayout> answer, PartitionLayout partitions, long readAt) {
    }

}
