package io.delayqueue.store.routing;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.ResumeResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.BackgroundLog;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StaleLayoutException;
import io.delayqueue.store.UncertainEffects;
import io.delayqueue.store.routing.CachedLayout.Known;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process knows of the partitions of queues. They are read when a queue is used
 * first, and again when a store refuses a call or a claim tells of a later version; a
 * sender that has no such occasion looks once a minute.
 * <p>
 * A version is handed out only once every partition has it recorded. So whoever goes by
 * it knows that nobody adds messages by an older one any more.
 * <p>
 * <strong>Threads.</strong> Any. What is known of a queue is one reference that only goes
 * forward; one reading of it is under way at a time. Watchers are told on the thread that
 * read, which must not be blocked.
 */
public final class PartitionLayoutCache {

    private static final Logger logger = LoggerFactory.getLogger(PartitionLayoutCache.class);

    private static final long OLDEST = Duration.ofMinutes(1).toNanos();

    /** Names may be made up without end; then what nobody watches is read anew. */
    private static final int MOST_QUEUES = 10_000;

    private static final int MOST_CONFLICTS = 10;

    private final PartitionLayoutStore records;

    private final ToIntFunction<QueueName> configured;

    private final LongSupplier nanoTime;

    private final int mostQueues;

    private final BackgroundLog log = new BackgroundLog();

    private final ConcurrentMap<QueueName, CachedLayout> entries = new ConcurrentHashMap<>();

    /**
     * Makes a table that knows nothing yet.
     * @param records what is recorded
     * @param configured how many partitions a queue is given on its first use; 0 where
     * nobody says
     * @param nanoTime the monotonic clock
     */
    public PartitionLayoutCache(PartitionLayoutStore records, ToIntFunction<QueueName> configured,
            LongSupplier nanoTime) {
        this(records, configured, nanoTime, MOST_QUEUES);
    }

    PartitionLayoutCache(PartitionLayoutStore records, ToIntFunction<QueueName> configured, LongSupplier nanoTime,
            int mostQueues) {
        this.mostQueues = mostQueues;
        this.records = records;
        this.configured = configured;
        this.nanoTime = nanoTime;
    }

    /** The partitions of a queue: as known, or else as read. */
    public CompletableFuture<PartitionLayout> of(QueueName queue) {
        CachedLayout entry = entry(queue);
        Known known = entry.known.get();
        if (known == null) {
            return read(queue);
        }
        if (this.nanoTime.getAsLong() - known.readAt() > OLDEST) {
            entry.known.compareAndSet(known, new Known(known.answer(), known.partitions(), this.nanoTime.getAsLong()));
            readInPassing(queue);
        }
        return known.answer();
    }

    /** Reads what is recorded. */
    public CompletableFuture<PartitionLayout> read(QueueName queue) {
        CachedLayout entry = entry(queue);
        CompletableFuture<PartitionLayout> mine = new CompletableFuture<>();
        CompletableFuture<PartitionLayout> other = entry.reading.compareAndExchange(null, mine);
        if (other != null) {
            return other;
        }
        recorded(queue).whenComplete((partitions, failure) -> {
            PartitionLayout known = null;
            Throwable reason = failure;
            try {
                known = (failure == null) ? learn(queue, entry, partitions) : null;
            }
            catch (RuntimeException ex) {
                reason = ex; // of a watcher, which must not end all reading
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
     * Reads what is recorded, after a partition refused a call. If that has a later
     * version than the first one, which has lost it then, it is recorded there again.
     * @param refusal the failure of the call
     */
    CompletableFuture<PartitionLayout> read(QueueName queue, Throwable refusal) {
        StaleLayoutException.recordedIn(refusal).ifPresent((told) -> tell(queue, told));
        return read(queue);
    }

    private void tell(QueueName queue, PartitionLayout told) {
        entry(queue).told.accumulateAndGet(told,
                (before, now) -> (before == null || before.version() < now.version()) ? now : before);
    }

    /** What was asked of the queue has not begun, whatever became of the reading. */
    private static Throwable withoutEffect(QueueName queue, Throwable failure) {
        Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
                : failure;
        if (cause instanceof DelayQueueException known && known.effect() == Effect.NONE) {
            return known;
        }
        return new StoreUnavailableException(
                "The partitions of queue '%s' cannot be read, so nothing was changed; reading them failed by: %s"
                    .formatted(queue, cause.getMessage()),
                Effect.NONE, UncertainEffects.beneath(cause));
    }

    /**
     * A claim of a partition told of this version; 0 for none. Reads if it is later than
     * what is known, from that partition if the first one has it no more. A partition
     * that all had told of more has lost it, to a failover maybe: there it is recorded
     * again, with the pause that it may say.
     */
    public void noticed(Partition partition, int version) {
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
            recorded.ifPresent((told) -> tell(partition.queue(), told));
            return read(partition.queue());
        });
    }

    /**
     * Tells of the partitions of a queue, now or as soon as they are known, and of every
     * later version.
     * @param watcher quick, and does not throw
     * @return ends that
     */
    public Runnable watch(QueueName queue, Consumer<PartitionLayout> watcher) {
        // In one step, or an entry without watchers could be forgotten before it has one.
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
     * @return the number before
     */
    public CompletableFuture<Integer> repartition(QueueName queue, int count) {
        return change(queue, (before) -> (before.count() == count) ? before : before.next(count))
            .thenApply(PartitionLayout::count);
    }

    /**
     * Pauses a queue, for all processes, or gives its pause another end. No claim of any
     * partition that begins after this is done takes a message.
     * @param until the end; {@code null} if somebody has to end it
     */
    public CompletableFuture<PauseResult> pause(QueueName queue, @Nullable DueTime until) {
        return this.records.now(queue).thenCompose((now) -> {
            Instant end = (until == null) ? null
                    : until.relative() ? now.plusMillis(until.millis()) : Instant.ofEpochMilli(until.millis());
            Pause pause = new Pause(end);
            return change(queue, (before) -> pause.equals(before.pause()) ? before : before.paused(pause))
                .thenApply((before) -> new PauseResult(queue.value(), isPaused(before, now), end));
        });
    }

    /**
     * Ends the pause of a queue, and has workers look. One that is over already is
     * recorded no more either, as versions of the library from before cannot read it.
     */
    public CompletableFuture<ResumeResult> resume(QueueName queue) {
        return this.records.now(queue)
            .thenCompose((now) -> change(queue, (before) -> (before.pause() != null) ? before.paused(null) : before)
                .thenApply((before) -> isPaused(before, now) ? ResumeResult.RESUMED : ResumeResult.NOT_PAUSED));
    }

    private static boolean isPaused(PartitionLayout partitions, Instant now) {
        Pause pause = partitions.pause();
        return pause != null && !pause.isOver(now);
    }

    /**
     * Changes what is recorded.
     * @param step to the next version; changes nothing if it returns what it is given
     * @return what was recorded before
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
                // Not read(queue): that may join a reading that began before this.
                return complete(queue, recorded).thenApply((done) -> {
                    learn(queue, entry(queue), done);
                    return before;
                });
            }
            if (conflicts == MOST_CONFLICTS) {
                return CompletableFuture.failedFuture(new StoreUnavailableException(
                        "The partitions of queue '%s' were changed by others again and again; nothing was changed"
                            .formatted(queue),
                        Effect.NONE, null));
            }
            return complete(queue, recorded).thenCompose((other) -> change(queue, other, step, conflicts + 1));
        });
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
                    : this.records.found(queue, count).thenCompose((founded) -> complete(queue, founded));
        });
    }

    /** A pause before the first use shall not decide how many partitions there are. */
    private CompletableFuture<PartitionLayout> spread(QueueName queue, PartitionLayout recorded, int count) {
        return this.records.replace(queue, Optional.of(recorded), recorded.next(count))
            .thenCompose((now) -> complete(queue, now));
    }

    /** Records again what a failover, or somebody, has taken away. */
    private CompletableFuture<PartitionLayout> restore(QueueName queue, PartitionLayout lost) {
        return this.records.raise(Partition.first(queue), lost)
            .thenCompose((raised) -> this.records.read(Partition.first(queue)))
            .thenCompose((recorded) -> complete(queue, recorded.orElse(lost)));
    }

    /**
     * Brings a version to all partitions, the first of which has it already, and then
     * says so there. Any process may, and go on where another one ended. Workers look
     * into the new partitions at once: while one cannot be reached the others may have
     * messages already.
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

    private static void inPassing(QueueName queue, CompletableFuture<?> look) {
        look.whenComplete((done, failure) -> {
            if (failure != null) {
                logger.debug("Cannot read or restore the partitions of queue '{}'; tried again when there is occasion",
                        queue, failure);
            }
        });
    }

    private PartitionLayout learn(QueueName queue, CachedLayout entry, PartitionLayout partitions) {
        Known before = entry.known.get();
        Known read = known(partitions);
        Known after = Objects.requireNonNull(entry.known.accumulateAndGet(read, PartitionLayoutCache::later));
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
        if (this.entries.size() >= this.mostQueues) {
            this.entries.keySet()
                .forEach((name) -> this.entries.computeIfPresent(name,
                        (same, other) -> other.watchers.isEmpty() ? null : other));
        }
        return this.entries.computeIfAbsent(queue, (name) -> new CachedLayout());
    }

}
