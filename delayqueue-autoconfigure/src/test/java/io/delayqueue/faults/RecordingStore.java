package io.delayqueue.faults;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;
import io.delayqueue.faults.Event.Kind;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;

/**
 * A store that writes down what happens to leases, and lets its process die before or
 * after any call. Threads: safe if the store is.
 */
final class RecordingStore implements MessageStore {

    private final MessageStore store;

    private final HistoryFile history;

    private final Points points;

    RecordingStore(MessageStore store, HistoryFile history, Points points) {
        this.store = store;
        this.history = history;
        this.points = points;
    }

    @Override
    public boolean waits() {
        return this.store.waits();
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget home, List<NewMessage> messages) {
        return passing("schedule", () -> this.store.schedule(home, messages));
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget home,
            List<NewMessage> messages) {
        return passing("schedule", () -> this.store.scheduleIfHeld(home, messages));
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        long call = this.history.nextCall();
        this.history.write(Kind.CLAIM, "", call, "queue", partition.toString());
        return passing("claim", () -> this.store.claim(partition, request)).whenComplete((claim, failure) -> {
            if (claim != null) {
                claim.messages().forEach((message) -> write(call, claim, message, request.leaseTime()));
            }
            this.history.write(Kind.CLAIM_END, "", call, "result", (failure == null) ? "true" : "failed");
        });
    }

    private void write(long call, ClaimResult claim, ClaimedMessage message, Duration leaseTime) {
        List<String> facts = new ArrayList<>(List.of("queue", message.lease().queue().value(), "token",
                message.lease().token(), "now", micros(claim.now()), "lease", Long.toString(leaseTime.toMillis()),
                "number", Job.numberIn(new String(message.envelope(), StandardCharsets.UTF_8)), "due",
                micros(message.dueAt()), "failures", Integer.toString(message.failures()), "lapses",
                Integer.toString(message.lapses()), "suspect", Boolean.toString(message.suspect())));
        if (message.group() != null) {
            facts.addAll(List.of("group", message.group()));
        }
        if (message.expiresAt() != null) {
            facts.addAll(List.of("expires", micros(message.expiresAt())));
        }
        this.history.write(Kind.CLAIMED, message.lease().id(), call, facts.toArray(String[]::new));
    }

    private static String micros(Instant instant) {
        return Long.toString(Event.micros(instant));
    }

    @Override
    public CompletableFuture<Boolean> resign(Partition partition, String node) {
        return passing("resign", () -> this.store.resign(partition, node));
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return settling("acknowledge", leases, Duration.ZERO, () -> this.store.acknowledge(partition, leases));
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime) {
        return settling("extend", leases, leaseTime, () -> this.store.extend(partition, leases, leaseTime));
    }

    @Override
    public CompletableFuture<Boolean> start(Lease lease) {
        return settling("start", lease, () -> this.store.start(lease));
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return settling("retry", List.of(lease), delay,
                () -> this.store.retry(lease, delay, failure).thenApply(List::of))
            .thenApply((results) -> results.get(0));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        return settling("release", leases, delay, () -> this.store.release(partition, leases, delay));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<DueLease> leases) {
        return settling("release", leases.stream().map(DueLease::lease).toList(), Duration.ZERO,
                () -> this.store.release(partition, leases));
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterReason death) {
        return settling("dead-letter", lease, () -> this.store.deadLetter(lease, death));
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget home, String id) {
        return passing("cancel", () -> this.store.cancel(home, id));
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget home, String id, DueTime due) {
        return passing("reschedule", () -> this.store.reschedule(home, id, due));
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget home, String letterId) {
        return passing("redrive", () -> this.store.redrive(home, letterId));
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition partition, String letterId) {
        return passing("purge", () -> this.store.purge(partition, letterId));
    }

    @Override
    public CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age) {
        return passing("purge", () -> this.store.purgeOlderThan(partition, age));
    }

    private CompletableFuture<Boolean> settling(String operation, Lease lease,
            Supplier<CompletableFuture<Boolean>> call) {
        return settling(operation, List.of(lease), Duration.ZERO, () -> call.get().thenApply(List::of))
            .thenApply((results) -> results.get(0));
    }

    /**
     * @param span the time that the operation asks for, if it does: of a lease, or a
     * delay
     */
    private CompletableFuture<List<Boolean>> settling(String operation, List<Lease> leases, Duration span,
            Supplier<CompletableFuture<List<Boolean>>> call) {
        List<Long> calls = new ArrayList<>();
        for (Lease lease : leases) {
            long number = this.history.nextCall();
            calls.add(number);
            this.history.write(Kind.SETTLE, lease.id(), number, "op", operation, "queue", lease.queue().value(),
                    "token", lease.token(), (operation.equals("extend") ? "lease" : "delay"),
                    Long.toString(span.toMillis()));
        }
        return passing(operation, call).whenComplete((results, failure) -> {
            for (int i = 0; i < leases.size(); i++) {
                this.history.write(Kind.SETTLE_END, leases.get(i).id(), calls.get(i), "op", operation, "result",
                        (failure == null) ? results.get(i).toString() : "failed");
            }
        });
    }

    private <T> CompletableFuture<T> passing(String operation, Supplier<CompletableFuture<T>> call) {
        this.points.pass(operation + ".before");
        return call.get().whenComplete((answer, failure) -> this.points.pass(operation + ".after"));
    }

}
