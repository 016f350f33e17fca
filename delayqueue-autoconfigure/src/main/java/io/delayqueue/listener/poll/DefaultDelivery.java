package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.delayqueue.DelayQueueException;
import io.delayqueue.Delivery;
import io.delayqueue.MessageLimits;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@link Delivery} for one call of a handler: describes the message, extends
 * its lease, and records the decision to apply when the handler has returned.
 */
final class DefaultDelivery implements Delivery {

    static final String NO_REASON = "The handler gave no reason";

    private final InFlightMessage inFlight;

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final long createdAt;

    private volatile @Nullable Decision decision;

    DefaultDelivery(InFlightMessage inFlight, PartitionBinding binding, PollLoopContext context) {
        this.inFlight = inFlight;
        this.binding = binding;
        this.context = context;
        this.createdAt = context.now();
    }

    /** Returns the decision of the handler; {@code null} if it made none. */
    @Nullable Decision decision() {
        return this.decision;
    }

    @Override
    public String queue() {
        return this.inFlight.lease().queue().value();
    }

    @Override
    public String id() {
        return this.inFlight.lease().id();
    }

    @Override
    public Optional<String> group() {
        return Optional.ofNullable(this.inFlight.message().group());
    }

    @Override
    public int attempt() {
        return this.inFlight.attempt();
    }

    @Override
    public int lapses() {
        return this.inFlight.message().lapses();
    }

    @Override
    public Instant dueAt() {
        return this.inFlight.message().dueAt();
    }

    @Override
    public Duration lateness() {
        return Duration.ofNanos(this.inFlight.lateness(this.createdAt));
    }

    @Override
    public boolean isLeased() {
        return this.inFlight.isLive(this.context.now());
    }

    @Override
    public boolean extend(Duration leaseTime) {
        MessageLimits.requirePositive("Lease time", leaseTime);
        Partition partition = this.inFlight.lease().partition();
        List<Lease> leases = List.of(this.inFlight.lease());
        long sentAt = this.context.now();
        boolean extended = join(StoreFutures.send(() -> this.context.store().extend(partition, leases, leaseTime)))
            .get(0);
        if (extended) {
            this.inFlight.renewed(sentAt, leaseTime);
        }
        else {
            LeaseRenewer.lost(this.inFlight, new PollLoopLog(this.binding, this.context), this.context.now());
        }
        return extended;
    }

    private static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        }
        catch (CompletionException ex) {
            if (StoreFailures.unwrap(ex) instanceof DelayQueueException failure) {
                throw failure;
            }
            throw ex;
        }
    }

    @Override
    public void retryAfter(Duration delay) {
        Objects.requireNonNull(delay, "delay");
        this.decision = new ReleaseDecision(MessageLimits.requireDelay(delay));
    }

    /** Accepts {@code null} too, as exceptions may have no message. */
    @Override
    public void deadLetter(@Nullable String reason) {
        this.decision = new DeadLetterDecision((reason != null) ? reason : NO_REASON);
    }

    @Override
    public void fail(Throwable error) {
        this.decision = new FailDecision(Objects.requireNonNull(error, "error"));
    }

    @Override
    public String toString() {
        return "message '%s' of queue '%s', attempt %d".formatted(id(), queue(), attempt());
    }

    /** Decides how to settle the message if the handler returns. */
    sealed interface Decision permits ReleaseDecision, DeadLetterDecision, FailDecision {

    }

    /** Releases the message without counting an attempt; it is due after the delay. */
    record ReleaseDecision(Duration delay) implements Decision {
    }

    /** Dead-letters the message with a reason to store. */
    record DeadLetterDecision(String reason) implements Decision {
    }

    /** Counts the attempt as failed, as if the handler had thrown the exception. */
    record FailDecision(Throwable error) implements Decision {
    }

}
