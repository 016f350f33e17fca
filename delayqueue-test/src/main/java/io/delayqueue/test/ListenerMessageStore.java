package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.Delivery;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DelegatingMessageStore;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;

/**
 * Gives the loops of listeners the messages that the tester allows, and records the
 * outcomes. Withholds outcomes from the store where the test asks for it: as if the
 * process had died, as if the lease had been lost, or as if an acknowledgement had been.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class ListenerMessageStore extends DelegatingMessageStore {

    private static final String EXPIRED = "expired";

    private final VirtualTime time;

    private final PartitionLayouts layouts;

    private final ClaimGate gate;

    private final DeliveryLog log;

    private final Faults faults;

    private final Map<Lease, Held> held = new ConcurrentHashMap<>();

    /** The attempts whose first delivery was discarded, by their lease without token. */
    private final Map<Lease, Discarded> discarded = new ConcurrentHashMap<>();

    ListenerMessageStore(StoreComponents components, VirtualTimeEngine.Parts parts) {
        super(components.messages());
        this.layouts = components.partitions();
        this.time = parts.time();
        this.gate = parts.gate();
        this.log = parts.log();
        this.faults = parts.faults();
    }

    /** Returns {@code false}: even a store in memory answers at once. */
    @Override
    public boolean isBlocking() {
        return false;
    }

    void clear() {
        this.held.clear();
        this.discarded.clear();
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        ClaimGate.Single single = this.gate.single(partition);
        if (single != null && single.take()) {
            return (single.id() == null) ? claimFirst(partition, request, single)
                    : claimOne(partition, request, single, new ArrayList<>());
        }
        if (!this.gate.isOpen(partition) || this.log.isFull()) {
            return CompletableFuture.completedFuture(nothing(partition));
        }
        return store().claim(partition, request).thenApply((claim) -> claimed(partition, claim));
    }

    private ClaimResult nothing(Partition partition) {
        CompletableFuture<PartitionLayout> layout = this.layouts.of(partition.queue());
        int version = (layout.isDone() && !layout.isCompletedExceptionally()) ? layout.join().version() : 0;
        return new ClaimResult(List.of(), this.time.now(), null, 0, List.of(), version, true);
    }

    private CompletableFuture<ClaimResult> claimFirst(Partition partition, ClaimRequest request,
            ClaimGate.Single single) {
        return store().claim(partition, limited(request, 1)).thenApply((claim) -> {
            claim.messages().forEach((message) -> single.claimed(message.lease().id()));
            if (claim.messages().isEmpty()) {
                single.giveBack();
            }
            return claimed(partition, claim);
        });
    }

    /** Claims until the message is found, and releases all others, as if unclaimed. */
    private CompletableFuture<ClaimResult> claimOne(Partition partition, ClaimRequest request, ClaimGate.Single single,
            List<UnstartedLease> others) {
        return store().claim(partition, limited(request, BATCH_LIMIT)).thenCompose((claim) -> {
            List<ClaimedMessage> wanted = new ArrayList<>();
            for (ClaimedMessage message : claim.messages()) {
                if (message.lease().id().equals(single.id())) {
                    wanted.add(message);
                }
                else {
                    others.add(message.unstartedLease());
                }
            }
            if (wanted.isEmpty() && !claim.messages().isEmpty()) {
                return claimOne(partition, request, single, others);
            }
            if (wanted.isEmpty()) {
                single.giveBack();
            }
            ClaimResult only = new ClaimResult(wanted, claim.now(), claim.nextAt(), claim.expired(),
                    claim.deadLettered(), claim.partitionsVersion(), claim.primaryPoller());
            return releaseAll(partition, others).thenApply((released) -> claimed(partition, only));
        });
    }

    private CompletableFuture<Void> releaseAll(Partition partition, List<UnstartedLease> leases) {
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int from = 0; from < leases.size(); from += BATCH_LIMIT) {
            calls.add(store().release(partition,
                    List.copyOf(leases.subList(from, Math.min(leases.size(), from + BATCH_LIMIT)))));
        }
        return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new));
    }

    private static ClaimRequest limited(ClaimRequest request, int limit) {
        return new ClaimRequest(limit, request.leaseTime(), request.policy(), request.bid(), request.usualLease(),
                request.backlog());
    }

    private ClaimResult claimed(Partition partition, ClaimResult claim) {
        String queue = partition.queue().value();
        claim.messages().forEach((message) -> this.held.put(message.lease(), held(message)));
        int dropped = claim.expired();
        for (DeadLetterEvent deadLetter : claim.deadLettered()) {
            boolean expired = deadLetter.reason().equals(EXPIRED);
            dropped -= expired ? 1 : 0;
            this.log.removed(queue, deadLetter.id(), expired ? DeliveryOutcome.EXPIRED : DeliveryOutcome.DEAD,
                    deadLetter.reason());
        }
        for (int i = 0; i < dropped; i++) {
            this.log.removed(queue, null, DeliveryOutcome.EXPIRED, null);
        }
        return claim;
    }

    private Held held(ClaimedMessage message) {
        Held held = new Held(message.withoutEnvelope(), this.log.begun(message.lease().queue().value()));
        if (this.faults.deliversTwice()) {
            // The second delivery is that of the same attempt, with the same due time.
            held.first = !Discarded.of(message).equals(this.discarded.remove(key(message.lease())));
        }
        return held;
    }

    private static Lease key(Lease lease) {
        return new Lease(lease.partition(), lease.id(), "");
    }

    /** Withholds the outcome of a delivery, as if its process had died. */
    void crash(Delivery delivery) {
        forEach(delivery, (held) -> held.crashed = true);
    }

    /** Rejects the renewals and the outcome of a delivery, as if its lease had ended. */
    void lose(Delivery delivery) {
        forEach(delivery, (held) -> held.lost = true);
    }

    private void forEach(Delivery delivery, Consumer<Held> change) {
        this.held.forEach((lease, held) -> {
            if (lease.queue().value().equals(delivery.queue()) && lease.id().equals(delivery.id())) {
                change.accept(held);
            }
        });
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return settle(leases, DeliveryOutcome.SUCCEEDED, null, (rest) -> store().acknowledge(partition, rest));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        return settle(leases, DeliveryOutcome.RELEASED, null, (rest) -> store().release(partition, rest, delay));
    }

    /** Releases messages whose handlers have not run, or could not. */
    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases) {
        leases.forEach((lease) -> this.held.remove(lease.lease()));
        return store().release(partition, leases);
    }

    @Override
    public CompletableFuture<Boolean> expire(Lease lease) {
        return settle(lease, DeliveryOutcome.EXPIRED, null, () -> store().expire(lease));
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return settle(lease, DeliveryOutcome.RETRIED, failure, () -> store().retry(lease, delay, failure));
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        boolean expired = !request.failed() && request.cause().equals(EXPIRED);
        return settle(lease, expired ? DeliveryOutcome.EXPIRED : DeliveryOutcome.DEAD, request.cause(),
                () -> store().deadLetter(lease, request));
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime) {
        return divide(leases, (lease) -> {
            Held held = this.held.get(lease);
            return (held != null && (held.crashed || held.lost)) ? CompletableFuture.completedFuture(held.crashed)
                    : null;
        }, (rest) -> store().extend(partition, rest, leaseTime));
    }

    private CompletableFuture<Boolean> settle(Lease lease, DeliveryOutcome outcome, @Nullable String cause,
            Supplier<CompletableFuture<Boolean>> call) {
        return settle(List.of(lease), outcome, cause, (rest) -> call.get().thenApply(List::of))
            .thenApply((answers) -> answers.get(0));
    }

    private CompletableFuture<List<Boolean>> settle(List<Lease> leases, DeliveryOutcome outcome, @Nullable String cause,
            Function<List<Lease>, CompletableFuture<List<Boolean>>> call) {
        return divide(leases, this::withhold, (rest) -> call.apply(rest).thenApply((answers) -> {
            for (int i = 0; i < rest.size(); i++) {
                settled(rest.get(i), answers.get(i), outcome, cause);
            }
            return answers;
        }));
    }

    private void settled(Lease lease, boolean done, DeliveryOutcome outcome, @Nullable String cause) {
        Held held = this.held.remove(lease);
        if (held != null && done) {
            this.log.ended(held.number, held.message, outcome, cause);
        }
    }

    /** Returns the answer to a settlement that must not reach the store. */
    private @Nullable CompletableFuture<Boolean> withhold(Lease lease) {
        Held held = this.held.get(lease);
        if (held == null || !(held.crashed || held.lost || held.first)) {
            return null;
        }
        this.held.remove(lease);
        if (held.crashed) {
            return CompletableFuture.completedFuture(true);
        }
        if (held.lost) {
            return giveBack(held).thenApply((released) -> false);
        }
        this.discarded.put(key(lease), Discarded.of(held.message));
        ClaimGate.Single single = this.gate.single(lease.partition());
        if (single != null) {
            single.again(lease.id());
        }
        return giveBack(held);
    }

    private CompletableFuture<Boolean> giveBack(Held held) {
        UnstartedLease lease = held.message.unstartedLease();
        return store().release(lease.lease().partition(), List.of(lease)).thenApply((answers) -> answers.get(0));
    }

    /**
     * Answers for some leases, and makes one call for all others.
     * @param special returns an answer; {@code null} if the lease belongs to the call
     * @return the answers in the order of the leases
     */
    private static CompletableFuture<List<Boolean>> divide(List<Lease> leases,
            Function<Lease, @Nullable CompletableFuture<Boolean>> special,
            Function<List<Lease>, CompletableFuture<List<Boolean>>> call) {
        Map<Lease, CompletableFuture<Boolean>> answers = new LinkedHashMap<>();
        List<Lease> rest = new ArrayList<>();
        for (Lease lease : leases) {
            CompletableFuture<Boolean> answer = special.apply(lease);
            if (answer == null) {
                rest.add(lease);
                answer = new CompletableFuture<>();
            }
            answers.put(lease, answer);
        }
        if (rest.size() == leases.size()) {
            return call.apply(leases);
        }
        CompletableFuture<List<Boolean>> called = rest.isEmpty() ? CompletableFuture.completedFuture(List.of())
                : call.apply(rest);
        for (int i = 0; i < rest.size(); i++) {
            int index = i;
            answers.put(rest.get(i), called.thenApply((all) -> all.get(index)));
        }
        return StoreFutures.all(List.copyOf(answers.values()));
    }

    /** Holds a message that a loop has, and the faults that apply to its delivery. */
    private static final class Held {

        private final ClaimedMessage message;

        private final long number;

        /** Whether its outcome is discarded, as the message is delivered twice. */
        private boolean first;

        private volatile boolean crashed;

        private volatile boolean lost;

        Held(ClaimedMessage message, long number) {
            this.message = message;
            this.number = number;
        }

    }

    /** Identifies the attempt whose first delivery was discarded. */
    private record Discarded(Instant dueAt, int failures) {

        static Discarded of(ClaimedMessage message) {
            return new Discarded(message.dueAt(), message.failures());
        }

    }

}
