package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.Texts;
import io.delayqueue.store.UnstartedLease;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the in-flight messages of one loop, and renews their leases from the claim to
 * the settlement. Each is renewed when a third of it is over. A failed renewal is retried
 * in the next round, of which there are six per lease.
 * <p>
 * <strong>Threads.</strong> The loop adds; handler threads and the loop remove. The
 * process' timer starts renewals, on a thread for iterations if calls block; the store's
 * connection delivers the answers.
 */
final class LeaseRenewer {

    private static final Logger logger = LoggerFactory.getLogger(LeaseRenewer.class);

    private static final int ROUNDS_PER_LEASE = 6;

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final PollLoopLog log;

    private final Duration leaseTime;

    private final long renewalAge;

    private final Set<InFlightMessage> inFlight = ConcurrentHashMap.newKeySet();

    private final Set<InFlightMessage> underWay = ConcurrentHashMap.newKeySet();

    LeaseRenewer(PartitionBinding binding, PollLoopContext context) {
        this.binding = binding;
        this.context = context;
        this.log = new PollLoopLog(binding, context);
        this.leaseTime = binding.settings().lease();
        this.renewalAge = Nanos.of(this.leaseTime) / 3;
    }

    Runnable start() {
        return this.context.timer()
            .every(this.leaseTime.dividedBy(ROUNDS_PER_LEASE), () -> this.context.runStoreTask(this::renew));
    }

    void add(InFlightMessage message) {
        this.inFlight.add(message);
    }

    /**
     * Shortens all leases after a forward jump of the store's clock, which governs their
     * ends. A machine that was suspended observes such a jump as well. A renewal that is
     * sent afterwards restores the full lease.
     * @param most the upper bound of the jump
     */
    void jumped(Duration most) {
        long now = this.context.now();
        this.inFlight.forEach((lease) -> lease.shorten(most, now));
    }

    void remove(InFlightMessage message) {
        this.inFlight.remove(message);
    }

    /** Removes and returns the messages that no handler has started, all of a batch. */
    List<InFlightMessage> takeUnstarted() {
        List<InFlightMessage> unstarted = this.inFlight.stream()
            .filter((message) -> message.task().tryRelease())
            .toList();
        unstarted.forEach(this.inFlight::remove);
        return unstarted;
    }

    /** Ends the handlers that still run, because their listener stops. */
    void interruptHandlers() {
        this.inFlight.stream().map(InFlightMessage::task).distinct().forEach(HandlerTask::interrupt);
    }

    /**
     * Releases messages that were taken unstarted.
     * @return completes, never exceptionally, when all answers have arrived
     */
    CompletableFuture<Void> release(List<InFlightMessage> unstarted) {
        return CompletableFuture
            .allOf(batches(unstarted).stream().map(this::releaseBatch).toArray(CompletableFuture<?>[]::new));
    }

    private CompletableFuture<Void> releaseBatch(List<InFlightMessage> batch) {
        List<UnstartedLease> leases = batch.stream().map((lease) -> lease.message().unstartedLease()).toList();
        MessageStore store = this.context.store();
        return StoreFutures.send(() -> store.release(this.binding.partition(), leases)).handle((answers, ex) -> {
            if (ex != null) {
                this.context.log(() -> logger.warn(
                        "Cannot release {} of queue '{}', to be handled when their leases run out: {}",
                        Texts.count(leases.size(), "message"), this.binding.queue(),
                        StoreFailures.unwrap(ex).toString()));
            }
            return null;
        });
    }

    /** Renews the leases that are due for it, without waiting for the answers. */
    void renew() {
        if (this.inFlight.isEmpty()) {
            // Leases that could not be renewed have ended without an answer.
            this.context.outage().recovered(StoreOutageLog.RENEW, this.binding.partition());
        }
        long now = this.context.now();
        this.inFlight.stream().filter((lease) -> !lease.isLive(now)).forEach((lease) -> lease.task().leaseEnded(now));
        List<InFlightMessage> due = this.inFlight.stream()
            .filter((lease) -> lease.isRenewalDue(now, this.renewalAge) && this.underWay.add(lease))
            .toList();
        for (List<InFlightMessage> batch : batches(due)) {
            renew(batch);
        }
    }

    private void renew(List<InFlightMessage> batch) {
        long sentAt = this.context.now();
        List<Lease> leases = batch.stream().map(InFlightMessage::lease).toList();
        MessageStore store = this.context.store();
        StoreFutures.send(() -> store.extend(this.binding.partition(), leases, this.leaseTime))
            .whenComplete((answers, ex) -> {
                try {
                    renewed(batch, answers, ex, sentAt);
                }
                finally {
                    batch.forEach(this.underWay::remove);
                }
            });
    }

    private void renewed(List<InFlightMessage> batch, List<Boolean> answers, @Nullable Throwable failure, long sentAt) {
        if (failure != null) {
            this.context.outage().failed(StoreOutageLog.RENEW, this.binding.partition(), StoreFailures.unwrap(failure));
            return;
        }
        this.context.outage().recovered(StoreOutageLog.RENEW, this.binding.partition());
        for (int i = 0; i < batch.size(); i++) {
            answered(batch.get(i), answers.get(i), sentAt);
        }
    }

    private void answered(InFlightMessage message, boolean renewed, long sentAt) {
        if (renewed) {
            message.renewed(sentAt, this.leaseTime);
        }
        else if (this.inFlight.contains(message)) {
            lost(message, this.log, this.context.now());
        }
    }

    /** Splits messages into batches that a store accepts in one call. */
    static List<List<InFlightMessage>> batches(List<InFlightMessage> all) {
        List<List<InFlightMessage>> batches = new ArrayList<>();
        for (int from = 0; from < all.size(); from += MessageStore.BATCH_LIMIT) {
            batches.add(all.subList(from, Math.min(all.size(), from + MessageStore.BATCH_LIMIT)));
        }
        return batches;
    }

    /** Counts and logs, once, that the store rejected a renewal. */
    static void lost(InFlightMessage message, PollLoopLog log, long now) {
        if (message.lose()) {
            log.leaseLost(message, "its lease cannot be renewed");
            message.task().leaseEnded(now);
        }
    }

}
