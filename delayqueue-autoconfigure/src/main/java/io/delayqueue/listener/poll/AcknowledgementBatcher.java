package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Batches the acknowledgements of messages that one loop has handled.
 * <p>
 * <strong>Threads.</strong> Handler threads add. The iterations of the loop send and
 * accept; once the loop has ended, the thread that added sends, and the store's thread
 * accepts.
 */
final class AcknowledgementBatcher {

    private static final Logger logger = LoggerFactory.getLogger(AcknowledgementBatcher.class);

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final LeaseRenewer leaseRenewer;

    private final PollLoopLog log;

    /** How long a finished message waits for others to share a call with. */
    private final long linger;

    private final Queue<InFlightMessage> finished = new ConcurrentLinkedQueue<>();

    /** Messages of rejected batches, each of which is sent alone from then on. */
    private final Queue<InFlightMessage> rejected = new ConcurrentLinkedQueue<>();

    private final AtomicInteger size = new AtomicInteger();

    /** Whether the store was unavailable at the last call. */
    private volatile boolean failing;

    private boolean lingering;

    private long since;

    AcknowledgementBatcher(PartitionBinding binding, PollLoopContext context, LeaseRenewer leaseRenewer) {
        this.binding = binding;
        this.context = context;
        this.leaseRenewer = leaseRenewer;
        this.log = new PollLoopLog(binding, context);
        this.linger = Nanos.of(context.settings().acknowledgementLinger());
    }

    /**
     * Adds a handled message, which may wait a few milliseconds for others.
     * @return whether the loop needs an iteration, to send or to schedule a send
     */
    boolean add(InFlightMessage lease) {
        this.finished.add(lease);
        int size = this.size.incrementAndGet();
        return size == 1 || size == MessageStore.BATCH_LIMIT || this.failing;
    }

    /**
     * Returns how long the added messages may still wait for others: until a batch is
     * full, or a few milliseconds after the first call that finds a message.
     * @return zero if it is time to send; {@code null} if there is nothing to send
     */
    @Nullable Duration timeUntilFlush(long now) {
        if (isEmpty()) {
            this.lingering = false;
            return null;
        }
        if (!this.lingering) {
            this.lingering = true;
            this.since = now;
        }
        long left = this.linger - (now - this.since);
        boolean over = left <= 0 || this.size.get() >= MessageStore.BATCH_LIMIT || !this.rejected.isEmpty();
        return over ? Duration.ZERO : Duration.ofNanos(left);
    }

    boolean isEmpty() {
        return this.finished.isEmpty() && this.rejected.isEmpty();
    }

    /** Sends all added messages, without waiting for the answers. */
    List<Sent> send() {
        this.lingering = false;
        List<Sent> sent = new ArrayList<>();
        List<InFlightMessage> leases = take(this.finished);
        this.size.addAndGet(-leases.size());
        LeaseRenewer.batches(leases).forEach((batch) -> sent.add(send(batch)));
        take(this.rejected).forEach((lease) -> sent.add(send(List.of(lease))));
        return sent;
    }

    private static List<InFlightMessage> take(Queue<InFlightMessage> queue) {
        List<InFlightMessage> leases = new ArrayList<>();
        InFlightMessage next = queue.poll();
        while (next != null) {
            next.settling(true);
            leases.add(next);
            next = queue.poll();
        }
        return leases;
    }

    private Sent send(List<InFlightMessage> batch) {
        List<Lease> ids = batch.stream().map(InFlightMessage::lease).toList();
        MessageStore store = this.context.store();
        return new Sent(batch, StoreFutures.send(() -> store.acknowledge(this.binding.partition(), ids)));
    }

    /**
     * Processes the answers, which must be complete.
     * @return {@code false} if some failed; they are sent again while their leases last
     */
    boolean accept(List<Sent> sent) {
        boolean answered = true;
        for (Sent batch : sent) {
            try {
                settled(batch.leases(), batch.answers().join());
            }
            catch (RuntimeException ex) {
                failed(batch.leases(), StoreFailures.unwrap(ex));
                answered = false;
            }
        }
        if (answered && !sent.isEmpty()) {
            this.failing = false;
            this.context.outage().recovered(StoreOutageLog.ACKNOWLEDGE, this.binding.partition());
        }
        return answered;
    }

    private void settled(List<InFlightMessage> leases, List<Boolean> answers) {
        for (int i = 0; i < leases.size(); i++) {
            InFlightMessage lease = leases.get(i);
            this.leaseRenewer.remove(lease);
            if (!answers.get(i)) {
                this.log.leaseLost(lease, "it was handled (or a reconnect has sent its acknowledgement twice)");
            }
        }
    }

    /**
     * Keeps renewing and retries if the store was unavailable. If it rejected the call,
     * retries only until the leases run out, as it may reject every retry.
     */
    private void failed(List<InFlightMessage> leases, Throwable cause) {
        this.context.outage().failed(StoreOutageLog.ACKNOWLEDGE, this.binding.partition(), cause);
        boolean rejected = !(cause instanceof StoreUnavailableException);
        this.failing |= !rejected;
        long now = this.context.now();
        for (InFlightMessage lease : leases) {
            if (rejected) {
                lease.stopRenewing();
            }
            lease.settling(false);
            if (lease.isLive(now)) {
                if (rejected) {
                    this.rejected.add(lease);
                }
                else {
                    add(lease);
                }
            }
            else {
                this.leaseRenewer.remove(lease);
                logger.debug(
                        "Message '{}' of queue '{}' was handled on attempt {} but could not be acknowledged "
                                + "within its lease; it may be handled again",
                        lease.lease().id(), lease.lease().queue(), lease.attempt());
            }
        }
    }

    record Sent(List<InFlightMessage> leases, CompletableFuture<List<Boolean>> answers) {
    }

}
