package io.delayqueue.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageSummary;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueCounts;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.Pause;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.RetryingStep;
import io.delayqueue.store.RevisionPage;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.ScheduleStore;
import org.jspecify.annotations.Nullable;

/**
 * Stores messages in this process, for unit tests and trials without Redis. They end with
 * it, and no other process sees them; all other guarantees of a queue hold. Counting
 * takes time in proportion to the messages that are due or leased.
 * <p>
 * <strong>Threads.</strong> All methods may be called from any thread. One transition of
 * a queue takes place at a time, under the lock of that queue; queues do not wait for
 * each other. Futures are complete when a method returns, and listeners have been called.
 */
@SuppressWarnings("this-escape") // A class proxy may extend it; it has no other subclass.
public class InMemoryMessageStore implements MessageStore, MessageInspector, WakeUps {

    private final Map<Partition, MemoryQueue> queues = new ConcurrentHashMap<>();

    private final MemoryWakeUps wakeUps = new MemoryWakeUps();

    private final MemoryPartitionLayoutStore records = new MemoryPartitionLayoutStore(this, this.wakeUps);

    private final MemoryScheduleStore schedules = new MemoryScheduleStore(this, this.wakeUps, this.records);

    private final Map<Partition, MemoryJournalCalls> journals = new ConcurrentHashMap<>();

    private final MemoryQueueRegistry registry = new MemoryQueueRegistry();

    private final MemoryNodeRegistry nodes;

    private final MemoryActivityStore activity;

    private final EnvelopeCodec codec;

    private final LongSupplier epochMicros;

    private final int maxUnrecorded;

    /**
     * Creates an empty store.
     * @param codec reads messages for inspection
     * @param epochMicros the store's time, in microseconds since the epoch
     */
    public InMemoryMessageStore(EnvelopeCodec codec, LongSupplier epochMicros) {
        this(codec, epochMicros, LedgerRequest.MAX_UNRECORDED);
    }

    InMemoryMessageStore(EnvelopeCodec codec, LongSupplier epochMicros, int maxUnrecorded) {
        this.codec = codec;
        this.epochMicros = epochMicros;
        this.maxUnrecorded = maxUnrecorded;
        this.nodes = new MemoryNodeRegistry(epochMicros);
        this.activity = new MemoryActivityStore(epochMicros);
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages) {
        Transition<List<SendResult>> transition = (queue, now) -> {
            requireInTime(target, now);
            messages.forEach((message) -> queue.requireSameGroup(message, now));
            messages.forEach((message) -> queue.requireWindow(message, now));
            return each(messages, (message) -> queue.send(message, target.offer(), now));
        };
        return messages.stream().allMatch(NewMessage::unique) ? in(target.partition(), transition)
                : in(target, transition);
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget target,
            List<NewMessage> messages) {
        return in(target, (queue, now) -> {
            messages.forEach((message) -> queue.requireSameGroup(message, now));
            return each(messages, (message) -> queue.holds(message, now)
                    ? Optional.of(queue.send(message, target.offer(), now)) : Optional.empty());
        });
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        return in(partition, (queue, now) -> {
            int version = this.records.of(partition).version();
            Pause pause = this.records.pause(partition, queue.ledger, now);
            if (pause != null) {
                return new ClaimResult(List.of(), Micros.toInstant(now), pause.until(), 0, List.of(), version,
                        request.bid() != null);
            }
            return queue.claim(request, now).withPartitionsVersion(version);
        });
    }

    /**
     * Does nothing: in one process, every poller is the primary poller of its partitions.
     */
    @Override
    public CompletableFuture<Boolean> resign(Partition partition, String node) {
        return CompletableFuture.completedFuture(true);
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return in(partition, (queue, now) -> each(leases, (lease) -> queue.acknowledge(lease, now)));
    }

    @Override
    public CompletableFuture<Boolean> expire(Lease lease) {
        return in(lease.partition(), (queue, now) -> queue.expire(lease));
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime) {
        return in(partition, (queue, now) -> each(leases, (lease) -> queue.extend(lease, leaseTime, now)));
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return in(lease.partition(), (queue, now) -> queue.start(lease));
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return in(lease.partition(), (queue, now) -> queue.retry(lease, delay, failure, now));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        DueTime due = DueTime.after(delay);
        return in(partition,
                (queue, now) -> each(leases, (lease) -> queue.release(lease, MemoryMessage.dueMillis(due, now), now)));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases) {
        return in(partition, (queue, now) -> each(leases, (each) -> queue.release(each.lease(),
                Math.min(each.dueAt().toEpochMilli(), Micros.ceilToMillis(now)), now)));
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        return in(lease.partition(), (queue, now) -> queue.deadLetter(lease, request, now));
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget target, String id) {
        return in(target, (queue, now) -> queue.cancel(id, target.offer(), now));
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget target, String id, DueTime due) {
        return in(target, (queue, now) -> queue.reschedule(id, due, target.offer(), now));
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget target, String deadLetterId) {
        return in(target, (queue, now) -> queue.redrive(deadLetterId, now));
    }

    @Override
    public CompletableFuture<LedgerChanges> changes(Partition partition, LedgerRequest request) {
        return in(partition, (queue, now) -> {
            MemoryJournalCalls calls = this.journals.compute(partition,
                    (key, known) -> MemoryJournalCalls.after(known, request));
            return calls.accepts(request) ? queue.changes(request, calls, now)
                    : new LedgerChanges(calls.journal(), calls.count(), calls.committedAt(), 0, List.of());
        });
    }

    @Override
    public CompletableFuture<RevisionPage> heldRevisions(Partition partition, String cursor) {
        return in(partition, (queue, now) -> queue.revisions());
    }

    @Override
    public CompletableFuture<List<HeldRevision>> heldRevisions(Partition partition, List<LedgerEntry> messages) {
        return in(partition, (queue, now) -> each(messages, queue::heldRevision));
    }

    @Override
    public RecordedDeadLetter toDeadLetter(NewMessage message, String deadLetterId, String cause, Instant now) {
        return new RecordedDeadLetter(deadLetterId,
                MemoryDeadLetter.of(message, deadLetterId, cause, now.toEpochMilli()).toBytes());
    }

    @Override
    public CompletableFuture<Integer> restoreDeadLetters(Partition partition, long deadline,
            List<RecordedDeadLetter> deadLetters) {
        return in(partition, (queue, now) -> {
            requireInTime(deadline, now);
            return queue.restoreDeadLetters(deadLetters);
        });
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition partition, String deadLetterId) {
        return in(partition, (queue, now) -> queue.purge(deadLetterId));
    }

    @Override
    public CompletableFuture<Boolean> removeRedriven(Partition partition, String deadLetterId) {
        return in(partition, (queue, now) -> queue.removeDeadLetter(deadLetterId));
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age) {
        return in(partition, (queue, now) -> queue.purgeOlderThan(age, now));
    }

    @Override
    public CompletableFuture<Optional<StoredMessage>> find(PartitionTarget target, String id) {
        return in(target, (queue, now) -> Optional.ofNullable(queue.find(id, now))
            .map((message) -> stored(target.partition(), message, now)));
    }

    private StoredMessage stored(Partition partition, MemoryMessage message, long now) {
        MessageSummary summary = message.summary(partition.queue(), now);
        Envelope envelope = this.codec.read(message.envelope);
        return new StoredMessage(summary.queue(), summary.id(), summary.state(), summary.dueAt(), summary.leasedUntil(),
                summary.expiresAt(), summary.priority(), summary.group(), summary.failures(), summary.lapses(),
                summary.failureReasons(), EnvelopeCodec.text(envelope), envelope.headers());
    }

    @Override
    public CompletableFuture<QueueStatistics> statistics(Partition partition) {
        return in(partition, (queue, now) -> queue.view(now).statistics());
    }

    @Override
    public CompletableFuture<DeadLetterPage> deadLetters(Partition partition, @Nullable String cursor, int limit) {
        DeadLetterCursor from = (cursor != null) ? DeadLetterCursor.parse(cursor) : null;
        return in(partition, (queue, now) -> {
            List<DeadLetter> deadLetters = each(queue.deadLetters(from, limit + 1),
                    (deadLetter) -> deadLetter.toDeadLetter(partition.queue().value(), this.codec));
            return DeadLetterCursor.page(deadLetters, limit, deadLetters.size() > limit);
        });
    }

    @Override
    public CompletableFuture<Optional<DeadLetter>> deadLetter(Partition partition, String deadLetterId) {
        return in(partition, (queue, now) -> Optional.ofNullable(queue.deadLetter(deadLetterId))
            .map((deadLetter) -> deadLetter.toDeadLetter(partition.queue().value(), this.codec)));
    }

    @Override
    public CompletableFuture<Optional<NewMessage>> deadLetteredMessage(Partition partition, String deadLetterId) {
        return in(partition,
                (queue, now) -> Optional.ofNullable(queue.deadLetter(deadLetterId)).map(MemoryDeadLetter::toMessage));
    }

    @Override
    public Subscription listen(Partition partition, Listener listener) {
        return this.wakeUps.listen(partition, listener);
    }

    /** Returns the layouts of its partitions. */
    public PartitionLayoutStore partitionRecords() {
        return this.records;
    }

    /** Returns the schedules of its queues. */
    public ScheduleStore schedules() {
        return this.schedules;
    }

    /** Returns the inspector of its queues. */
    public QueueInspector queueInspector() {
        return new Inspector();
    }

    /** Returns the list of its queues. */
    public QueueRegistry queueRegistry() {
        return this.registry;
    }

    /** Returns the activity of its queues, by minute. */
    public ActivityStore activityStore() {
        return this.activity;
    }

    /** Returns the reports of the nodes that use it. */
    public NodeRegistry nodeRegistry() {
        return this.nodes;
    }

    /** Removes all but the layouts of partitions, which are settings. */
    public void clear() {
        this.queues.clear();
        this.journals.clear();
        this.registry.clear();
        this.schedules.clear();
        this.activity.clear();
    }

    /** Returns whether this store is empty, for tests that check for leaks. */
    boolean isEmpty() {
        return this.queues.isEmpty();
    }

    private <T> CompletableFuture<T> in(PartitionTarget target, Transition<T> transition) {
        return in(target.partition(), (queue, now) -> {
            this.records.requireUpToDate(target);
            requireInTime(target, now);
            return transition.apply(queue, now);
        });
    }

    private static void requireInTime(PartitionTarget target, long now) {
        OfferConditions offer = target.offer();
        if (offer != null) {
            requireInTime(offer.deadline().applyAsLong(target.partition()), now);
        }
    }

    private static void requireInTime(long deadline, long now) {
        if (now > deadline) {
            throw new StoreUnavailableException("The deadline of this call has passed; nothing was changed",
                    Effect.NONE, null);
        }
    }

    /** Runs a transition under the lock of a partition. */
    <T> CompletableFuture<T> in(Partition partition, Transition<T> transition) {
        try {
            return CompletableFuture.completedFuture(run(partition, transition));
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private MemoryQueue queue(Partition partition) {
        return new MemoryQueue(partition,
                new MemoryLedger(this.maxUnrecorded, () -> this.journals.containsKey(partition)));
    }

    private <T> T run(Partition partition, Transition<T> transition) {
        while (true) {
            MemoryQueue queue = this.queues.computeIfAbsent(partition, this::queue);
            boolean wakeUp = false;
            queue.lock.lock();
            try {
                if (this.queues.get(partition) != queue) {
                    continue; // removed as empty before the lock was taken
                }
                long now = this.epochMicros.getAsLong();
                queue.duplicates.trim(now);
                T answer = transition.apply(queue, now);
                wakeUp = queue.takeWakeUp();
                return answer;
            }
            finally {
                if (queue.isEmpty()) {
                    this.queues.remove(partition, queue);
                }
                queue.lock.unlock();
                if (wakeUp) {
                    this.wakeUps.notifyListeners(partition);
                }
            }
        }
    }

    private static <A, B> List<B> each(List<A> values, Function<A, B> transition) {
        return values.stream().map(transition).toList();
    }

    /** Reads queues, each read under the lock of the queue. */
    private final class Inspector implements QueueInspector {

        @Override
        public CompletableFuture<PartitionCounts> counts(Partition partition) {
            return in(partition,
                    (queue, now) -> queue.view(now).counts(InMemoryMessageStore.this.records.of(partition)));
        }

        @Override
        public CompletableFuture<DueForecast> dueForecast(Partition partition) {
            return in(partition, (queue, now) -> queue.view(now).dueForecast());
        }

        @Override
        public CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageSelection selection,
                @Nullable MessageCursor after, int limit) {
            return in(partition, (queue, now) -> queue.view(now).messages(selection, after, limit));
        }

        @Override
        public CompletableFuture<DueCounts> dueCounts(Partition partition, List<Instant> ends) {
            return in(partition, (queue, now) -> queue.view(now).dueCounts(ends));
        }

        @Override
        public CompletableFuture<MessageScanPage> scan(Partition partition, ScanSelection selection, String idPrefix,
                @Nullable String cursor) {
            return in(partition, (queue, now) -> scans(partition, queue, now).scan(selection, idPrefix));
        }

        @Override
        public CompletableFuture<RetryingStep> countRetrying(Partition partition, @Nullable String cursor) {
            return in(partition, (queue, now) -> scans(partition, queue, now).countRetrying());
        }

        @Override
        public CompletableFuture<LocatedId> locate(Partition partition, String id, @Nullable String cursor) {
            int version = InMemoryMessageStore.this.records.of(partition).version();
            return in(partition, (queue, now) -> scans(partition, queue, now).locate(id, version));
        }

        @Override
        public CompletableFuture<DeadLetterSummaryPage> deadLetterSummaries(Partition partition,
                @Nullable String cursor, int limit) {
            return in(partition, (queue, now) -> scans(partition, queue, now).deadLetterSummaries(cursor, limit));
        }

        private static MemoryScans scans(Partition partition, MemoryQueue queue, long now) {
            return new MemoryScans(queue, partition.queue(), now);
        }

    }

    /** Changes or reads one queue, under its lock. */
    interface Transition<T> {

        T apply(MemoryQueue queue, long now);

    }

}
