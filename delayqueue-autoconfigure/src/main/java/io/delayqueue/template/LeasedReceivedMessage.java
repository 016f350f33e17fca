package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.MessageLimits;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.consume.LeaseSettler;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.Lease;
import io.delayqueue.store.envelope.Envelope;

import org.springframework.core.ParameterizedTypeReference;

/**
 * Represents a received message that is leased to a caller. The store fences the lease;
 * the local clock only gives its minimum remaining time.
 * <p>
 * <strong>Threads.</strong> Any thread may call any method. The only state is the end of
 * the lease, which is atomic.
 */
final class LeasedReceivedMessage implements ReceivedMessage {

    private final ClaimedMessage claimed;

    private final Envelope envelope;

    private final Receiver receiver;

    /** On the monotonic clock. */
    private final AtomicLong leasedUntil;

    LeasedReceivedMessage(ClaimedMessage claimed, Envelope envelope, Receiver receiver, long leasedUntil) {
        this.claimed = claimed;
        this.envelope = envelope;
        this.receiver = receiver;
        this.leasedUntil = new AtomicLong(leasedUntil);
    }

    @Override
    public String queue() {
        return lease().queue().value();
    }

    @Override
    public String id() {
        return lease().id();
    }

    @Override
    public Optional<String> group() {
        return Optional.ofNullable(this.claimed.group());
    }

    @Override
    public int attempt() {
        return this.claimed.failures() + 1;
    }

    @Override
    public Instant dueAt() {
        return this.claimed.dueAt();
    }

    @Override
    public Map<String, String> headers() {
        return this.envelope.headers();
    }

    @Override
    public Duration leasedFor() {
        return Duration.ofNanos(Math.max(0, this.leasedUntil.get() - this.receiver.now()));
    }

    @Override
    @SuppressWarnings("unchecked") // Not type.cast, which knows no int for int.class.
    public <T> T payload(Class<T> type) {
        return (T) this.receiver.codec().readPayload(this.envelope.payload(), type);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T payload(ParameterizedTypeReference<T> type) {
        return (T) this.receiver.codec().readPayload(this.envelope.payload(), type.getType());
    }

    @Override
    public boolean acknowledge() {
        return ended(await(settler().acknowledge(lease()), "acknowledge"));
    }

    @Override
    public boolean retry(Duration delay, String failure) {
        Duration wait = MessagePreparer.wholeMillis(MessageLimits.requireDelay(delay));
        if (attempt() >= this.receiver.maxAttempts(lease().queue())) {
            return deadLetter(failure, true);
        }
        boolean retried = ended(await(settler().retry(lease(), wait, failure), "retry"));
        if (retried) {
            settler().retried(lease().queue());
        }
        return retried;
    }

    @Override
    public boolean release(Duration delay) {
        Duration wait = MessagePreparer.wholeMillis(MessageLimits.requireDelay(delay));
        return ended(await(
                wait.isZero() ? settler().release(this.claimed.unstartedLease()) : settler().release(lease(), wait),
                "release"));
    }

    @Override
    public boolean deadLetter(String reason) {
        return deadLetter(reason, false);
    }

    /** Publishes the dead letter on the caller's thread. */
    private boolean deadLetter(String cause, boolean failed) {
        DeadLetterRequest request = new DeadLetterRequest(cause, failed, dueAt());
        boolean dead = ended(await(settler().deadLetter(lease(), request), "deadLetter"));
        if (dead) {
            settler().publish(lease(), request, this.claimed.failures(), "");
        }
        return dead;
    }

    @Override
    public boolean extend(Duration leaseTime) {
        Duration wanted = MessagePreparer.wholeMillis(MessageLimits.requirePositive("Lease time", leaseTime));
        long until = this.receiver.now() + wanted.toNanos();
        if (!await(settler().extend(lease(), wanted), "extend")) {
            return ended(false);
        }
        this.leasedUntil.accumulateAndGet(until, (one, other) -> (one - other > 0) ? one : other);
        return true;
    }

    private Lease lease() {
        return this.claimed.lease();
    }

    private LeaseSettler settler() {
        return this.receiver.settler();
    }

    private <T> T await(CompletableFuture<T> answer, String operation) {
        return this.receiver.await(answer, operation);
    }

    /** Records that the lease has ended, whether or not by this call. */
    private boolean ended(boolean byThisCall) {
        this.leasedUntil.set(this.receiver.now());
        return byThisCall;
    }

    /** Describes the message without its payload, which may be private. */
    @Override
    public String toString() {
        return "ReceivedMessage[queue=%s, id=%s, attempt=%d]".formatted(queue(), id(), attempt());
    }

}
