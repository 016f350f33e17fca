package io.delayqueue.listener;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.delayqueue.engine.Lease;
import io.delayqueue.engine.MessageStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages of one loop that are handled and not acknowledged yet.
 * <p>
 * <strong>Threads.</strong> Handler threads add. The loop sends, and once it has ended,
 * whoever added.
 */
final class Acknowledgements {

    private static final Logger logger = LoggerFactory.getLogger(Acknowledgements.class);

    private final ListenedQueue queue;

    private final WorkerContext context;

    private final LeaseKeeper leaseKeeper;

    private final Queue<HeldLease> finished = new ConcurrentLinkedQueue<>();

    Acknowledgements(ListenedQueue queue, WorkerContext context, LeaseKeeper leaseKeeper) {
        this.queue = queue;
        this.context = context;
        this.leaseKeeper = leaseKeeper;
    }

    void add(HeldLease lease) {
        this.finished.add(lease);
    }

    boolean isEmpty() {
        return this.finished.isEmpty();
    }

    /** Sends all that is there, without waiting for the answers. */
    List<Sent> send() {
        List<HeldLease> leases = new ArrayList<>();
        HeldLease next = this.finished.poll();
        while (next != null) {
            next.settling(true);
            leases.add(next);
            next = this.finished.poll();
        }
        List<Sent> sent = new ArrayList<>();
        for (List<HeldLease> batch : Batches.of(leases)) {
            List<Lease> ids = batch.stream().map(HeldLease::lease).toList();
            MessageStore store = this.context.store();
            sent.add(new Sent(batch, StoreCalls.send(() -> store.acknowledge(this.queue.name(), ids))));
        }
        return sent;
    }

    /**
     * Waits for the answers.
     * @return {@code false} if some failed; they are sent again while their leases last
     */
    boolean await(List<Sent> sent) {
        boolean answered = true;
        for (Sent batch : sent) {
            try {
                settled(batch.leases(), batch.answers().join());
                this.context.outage().recovered(Outage.ACKNOWLEDGE, this.queue.name());
            }
            catch (RuntimeException ex) {
                failed(batch.leases(), StoreCalls.unwrap(ex));
                answered = false;
            }
        }
        return answered;
    }

    private void settled(List<HeldLease> leases, List<Boolean> answers) {
        for (int i = 0; i < leases.size(); i++) {
            HeldLease lease = leases.get(i);
            this.leaseKeeper.remove(lease);
            if (!answers.get(i)) {
                this.queue.counters().refused.increment();
                logger.warn(
                        "Message '{}' of queue '{}' outlived its lease on attempt {} and is handled again, unless "
                                + "a reconnect sent its acknowledgement twice",
                        lease.lease().id(), lease.lease().queue(), lease.attempt());
            }
        }
    }

    private void failed(List<HeldLease> leases, Throwable cause) {
        this.context.outage().failed(Outage.ACKNOWLEDGE, this.queue.name(), cause);
        long now = this.context.now();
        for (HeldLease lease : leases) {
            lease.settling(false);
            if (lease.isLive(now)) {
                this.finished.add(lease);
            }
            else {
                this.leaseKeeper.remove(lease);
                logger.debug(
                        "Message '{}' of queue '{}' was handled on attempt {} but could not be acknowledged "
                                + "within its lease; it is handled again",
                        lease.lease().id(), lease.lease().queue(), lease.attempt());
            }
        }
    }

    /** Acknowledgements under way. */
    record Sent(List<HeldLease> leases, CompletableFuture<List<Boolean>> answers) {
    }

}
