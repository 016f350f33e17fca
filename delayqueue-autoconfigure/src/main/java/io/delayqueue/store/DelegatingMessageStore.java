package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CancelResult;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;

/** Passes each call on to another store. Subclasses change some of them. */
public abstract class DelegatingMessageStore implements MessageStore {

    private final MessageStore store;

    protected DelegatingMessageStore(MessageStore store) {
        this.store = store;
    }

    protected final MessageStore store() {
        return this.store;
    }

    @Override
    public boolean isBlocking() {
        return this.store.isBlocking();
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages) {
        return this.store.schedule(target, messages);
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget target,
            List<NewMessage> messages) {
        return this.store.scheduleIfHeld(target, messages);
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        return this.store.claim(partition, request);
    }

    @Override
    public CompletableFuture<Boolean> resign(Partition partition, String node) {
        return this.store.resign(partition, node);
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return this.store.acknowledge(partition, leases);
    }

    @Override
    public CompletableFuture<Boolean> expire(Lease lease) {
        return this.store.expire(lease);
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime) {
        return this.store.extend(partition, leases, leaseTime);
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return this.store.start(lease);
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return this.store.retry(lease, delay, failure);
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        return this.store.release(partition, leases, delay);
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases) {
        return this.store.release(partition, leases);
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        return this.store.deadLetter(lease, request);
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget target, String id) {
        return this.store.cancel(target, id);
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget target, String id, DueTime due) {
        return this.store.reschedule(target, id, due);
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget target, String deadLetterId) {
        return this.store.redrive(target, deadLetterId);
    }

    @Override
    public CompletableFuture<LedgerChanges> changes(Partition partition, LedgerRequest request) {
        return this.store.changes(partition, request);
    }

    @Override
    public CompletableFuture<RevisionPage> heldRevisions(Partition partition, String cursor) {
        return this.store.heldRevisions(partition, cursor);
    }

    @Override
    public CompletableFuture<List<HeldRevision>> heldRevisions(Partition partition, List<LedgerEntry> messages) {
        return this.store.heldRevisions(partition, messages);
    }

    @Override
    public RecordedDeadLetter toDeadLetter(NewMessage message, String deadLetterId, String cause, Instant now) {
        return this.store.toDeadLetter(message, deadLetterId, cause, now);
    }

    @Override
    public CompletableFuture<Integer> restoreDeadLetters(Partition partition, long deadline,
            List<RecordedDeadLetter> deadLetters) {
        return this.store.restoreDeadLetters(partition, deadline, deadLetters);
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition partition, String deadLetterId) {
        return this.store.purge(partition, deadLetterId);
    }

    @Override
    public CompletableFuture<Boolean> removeRedriven(Partition partition, String deadLetterId) {
        return this.store.removeRedriven(partition, deadLetterId);
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age) {
        return this.store.purgeOlderThan(partition, age);
    }

}
