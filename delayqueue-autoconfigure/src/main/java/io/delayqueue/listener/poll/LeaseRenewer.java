package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.store.DueLease;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of one loop, from the claim to the settlement: of messages that wait
 * for a thread, are handled, or are handled and not acknowledged yet. Each is renewed
 * when a third of it is over. A failed renewal is retried in the next round, of which
 * there are six per lease.
 * <p>
 * <strong>Threads.</strong> The loop adds; handler threads and the loop remove. The
 * process' timer starts renewals, on a thread for turns if calls block; the store's
 * connection delivers the answers.
 */
final class LeaseRenewer {

    private static final Logger logger = LoggerFactory.getLogger(LeaseRenewer.class);

    private static final int ROUNDS_PER_LEASE = 6;

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final PollLoopLog log;

    private final Duration leaseTime;

    private final long renewalAge;

    private final Set<InFlightMessage> held = ConcurrentHashMap.newKeySet();

    private final Set<InFlightMessage> underWay = ConcurrentHashMap.newKeySet();

    LeaseRenewer(ListenerEndpoint queue, ListenerRuntime context) {
        this.queue = queue;
        this.context = context;
        this.log = new PollLoopLog(queue, context);
        this.leaseTime = queue.settings().lease();
        this.renewalAge = Nanos.of(this.leaseTime) / 3;
    }

    Timer.Scheduled start() {
        return this.context.timer()
            .every(this.leaseTime.dividedBy(ROUNDS_PER_LEASE), () -> this.context.turn(this::renew));
    }

    void add(InFlightMessage lease) {
        this.held.add(lease);
    }

    /**
     * Shortens all leases after a forward jump of the store's clock, which governs their
     * ends. A machine that was suspended observes such a jump as well. A renewal that is
     * sent afterwards restores the full lease.
     * @param most the upper bound of the jump
     */
    void jumped(Duration most) {
        long now = this.context.now();
        this.held.forEach((lease) -> lease.shorten(most, now));
    }

    void remove(InFlightMessage lease) {
        this.held.remove(lease);
    }

    /** Takes the messages that no handler has started, for the caller to release. */
    List<InFlightMessage> takeUnstarted() {
        List<InFlightMessage> unstarted = this.held.stream().filter(InFlightMessage::giveBack).toList();
        unstarted.forEach(this.held::remove);
        return unstarted;
    }

    /**
     * Gives back messages that were taken unstarted.
     * @return completes, never exceptionally, when all answers have arrived
     */
    CompletableFuture<Void> release(List<InFlightMessage> unstarted) {
        return CompletableFuture
            .allOf(Batches.of(unstarted).stream().map(this::releaseBatch).toArray(CompletableFuture<?>[]::new));
    }

    private CompletableFuture<Void> releaseBatch(List<InFlightMessage> batch) {
        List<DueLease> leases = batch.stream().map((lease) -> lease.message().dueLease()).toList();
        MessageStore store = this.context.store();
        return StoreFutures.send(() -> store.release(this.queue.partition(), leases)).handle((answers, ex) -> {
            if (ex != null) {
                this.context.log(() -> logger.warn(
                        "Cannot give back {} of queue '{}', to be handled when their leases run out: {}",
                        Texts.count(leases.size(), "message"), this.queue.name(), StoreFutures.unwrap(ex).toString()));
            }
            return null;
        });
    }

    /** Renews the leases that are due for it, without waiting for the answers. */
    void renew() {
        if (this.held.isEmpty()) {
            // Leases that could not be renewed have ended, and no answer will report it.
            this.context.outage().recovered(StoreOutageLog.RENEW, this.queue.partition());
        }
        long now = this.context.now();
        List<InFlightMessage> due = this.held.stream()
            .filter((lease) -> lease.isRenewalDue(now, this.renewalAge) && this.underWay.add(lease))
            .toList();
        for (List<InFlightMessage> batch : Batches.of(due)) {
            renew(batch);
        }
    }

    private void renew(List<InFlightMessage> batch) {
        long sentAt = this.context.now();
        List<Lease> leases = batch.stream().map(InFlightMessage::lease).toList();
        MessageStore store = this.context.store();
        StoreFutures.send(() -> store.extend(this.queue.partition(), leases, this.leaseTime))
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
            this.context.outage().failed(StoreOutageLog.RENEW, this.queue.partition(), StoreFutures.unwrap(failure));
            return;
        }
        this.context.outage().recovered(StoreOutageLog.RENEW, this.queue.partition());
        for (int i = 0; i < batch.size(); i++) {
            answered(batch.get(i), answers.get(i), sentAt);
        }
    }

    private void answered(InFlightMessage lease, boolean renewed, long sentAt) {
        if (renewed) {
            lease.renewed(sentAt, this.leaseTime);
        }
        else if (this.held.contains(lease)) {
            lost(lease, this.log);
        }
    }

    /** Counts and logs, once, that the store rejected a renewal. */
    static void lost(InFlightMessage lease, PollLoopLog log) {
        if (lease.lose()) {
            log.refused(lease, "its lease cannot be renewed");
        }
    }

}
