package io.delayqueue.test;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DelegatingMessageStore;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.RecordedDeadLetter;
import io.delayqueue.store.UnstartedLease;

/**
 * Calls a store for a test: lists calls while they are pending, wakes loops and callers
 * in this process after changes, keeps tokens distinct while time stands, and fails on
 * demand.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class VirtualTimeMessageStore extends DelegatingMessageStore {

    private final VirtualTime time;

    private final QuietDetector quietDetector;

    private final LocalWakeUps wakeUps;

    private final Faults faults;

    private final Map<QueueName, LeaseTokenSequence> tokens = new ConcurrentHashMap<>();

    VirtualTimeMessageStore(MessageStore store, VirtualTimeEngine.Parts parts) {
        super(store);
        this.time = parts.time();
        this.quietDetector = parts.quietDetector();
        this.wakeUps = parts.wakeUps();
        this.faults = parts.faults();
    }

    /** Returns {@code false}: even a store in memory answers at once. */
    @Override
    public boolean isBlocking() {
        return false;
    }

    private LeaseTokenSequence tokens(Partition partition) {
        return this.tokens.computeIfAbsent(partition.queue(), (queue) -> new LeaseTokenSequence());
    }

    /** Forgets the tokens that were given. */
    void clear() {
        this.tokens.clear();
    }

    private <T> CompletableFuture<T> call(String name, Supplier<CompletableFuture<T>> call, Runnable onAnswer) {
        if (this.faults.isAway()) {
            return CompletableFuture.failedFuture(new StoreUnavailableException(
                    "The store is away (redisAway of the test): '%s' changed nothing".formatted(name), Effect.NONE,
                    null));
        }
        return this.quietDetector.call(name, call, onAnswer);
    }

    private <T> CompletableFuture<T> change(String name, Partition partition, Supplier<CompletableFuture<T>> call) {
        return call(name, call, () -> this.wakeUps.changed(partition));
    }

    private <T> CompletableFuture<T> send(PartitionTarget target, List<NewMessage> messages,
            Supplier<CompletableFuture<T>> call) {
        Effect effect = this.faults.takeSend();
        if (effect == Effect.NONE) {
            return CompletableFuture.failedFuture(
                    new StoreUnavailableException("The store is unreachable (failNextSend of the test)", effect, null));
        }
        tokens(target.partition()).sent(messages.stream().map(NewMessage::id).toList());
        CompletableFuture<T> sent = change("schedule", target.partition(), call);
        if (effect == null) {
            return sent;
        }
        return sent.thenCompose((answer) -> CompletableFuture.failedFuture((effect == Effect.STORED)
                ? new NotReplicatedException(
                        "The message is stored, but has not reached the replicas " + "(failNextSend of the test)", null)
                : new StoreUnavailableException("The store has not answered in time (failNextSend of the test)", effect,
                        null)));
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages) {
        return send(target, messages, () -> store().schedule(target, messages));
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget target,
            List<NewMessage> messages) {
        tokens(target.partition()).sent(messages.stream().map(NewMessage::id).toList());
        return change("schedule", target.partition(), () -> store().scheduleIfHeld(target, messages));
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        LeaseTokenSequence guard = tokens(partition);
        LeaseTokenSequence.Moment moment = guard.moment(this.time.millis(), request.leaseTime());
        ClaimRequest distinct = new ClaimRequest(request.limit(), moment.lease(), request.policy(), request.bid(),
                request.usualLease(), request.backlog());
        return call("claim", () -> this.time.within(moment.micros(), () -> store().claim(partition, distinct)), () -> {
        }).thenApply((claim) -> {
            guard.claimed(claim);
            return atWholeMillisecond(claim);
        });
    }

    private static ClaimResult atWholeMillisecond(ClaimResult claim) {
        return new ClaimResult(claim.messages(), claim.now().truncatedTo(ChronoUnit.MILLIS), claim.nextAt(),
                claim.expired(), claim.deadLettered(), claim.partitionsVersion(), claim.primaryPoller());
    }

    @Override
    public CompletableFuture<Boolean> resign(Partition partition, String node) {
        return call("resign", () -> store().resign(partition, node), () -> {
        });
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return change("acknowledge", partition, () -> store().acknowledge(partition, leases));
    }

    @Override
    public CompletableFuture<Boolean> expire(Lease lease) {
        return change("expire", lease.partition(), () -> store().expire(lease));
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime) {
        return call("extend", () -> store().extend(partition, leases, leaseTime), () -> {
        });
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return call("start", () -> store().start(lease), () -> {
        });
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return change("retry", lease.partition(), () -> store().retry(lease, delay, failure));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        return change("release", partition, () -> store().release(partition, leases, delay));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases) {
        return change("release", partition, () -> store().release(partition, leases));
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        return change("deadLetter", lease.partition(), () -> store().deadLetter(lease, request));
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget target, String id) {
        return change("cancel", target.partition(), () -> store().cancel(target, id));
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget target, String id, DueTime due) {
        return change("reschedule", target.partition(), () -> store().reschedule(target, id, due));
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget target, String deadLetterId) {
        tokens(target.partition()).sent(List.of(Lease.idOf(deadLetterId)));
        return change("redrive", target.partition(), () -> store().redrive(target, deadLetterId));
    }

    @Override
    public CompletableFuture<LedgerChanges> changes(Partition partition, LedgerRequest request) {
        return call("changes", () -> store().changes(partition, request), () -> {
        });
    }

    @Override
    public CompletableFuture<Integer> restoreDeadLetters(Partition partition, long deadline,
            List<RecordedDeadLetter> deadLetters) {
        return call("restoreDeadLetters", () -> store().restoreDeadLetters(partition, deadline, deadLetters), () -> {
        });
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition partition, String deadLetterId) {
        return call("purge", () -> store().purge(partition, deadLetterId), () -> {
        });
    }

    @Override
    public CompletableFuture<Boolean> removeRedriven(Partition partition, String deadLetterId) {
        return call("purge", () -> store().removeRedriven(partition, deadLetterId), () -> {
        });
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age) {
        return call("purgeOlderThan", () -> store().purgeOlderThan(partition, age), () -> {
        });
    }

}
