package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.MessageLimits;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.store.ClaimedMessage;
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

    private final ReceivedMessageSupport hands;

    /** On the monotonic clock. */
    private final AtomicLong leasedUntil;

    LeasedReceivedMessage(ClaimedMessage claimed, Envelope envelope, ReceivedMessageSupport hands, long leasedUntil) {
        this.claimed = claimed;
        this.envelope = envelope;
        this.hands = hands;
        this.leasedUntil = new AtomicLong(leasedUntil);
    }

    @Override
    public String queue() {
        return this.claimed.lease().queue().value();
    }

    @Override
    public String id() {
        return this.claimed.lease().id();
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
        return Duration.ofNanos(Math.max(0, this.leasedUntil.get() - this.hands.nanoTime().getAsLong()));
    }

    @Override
    @SuppressWarnings("unchecked") // Not type.cast, which knows no int for int.class.
    public <T> T payload(Class<T> type) {
        return (T) this.hands.codec().readPayload(this.envelope.payload(), type);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T payload(ParameterizedTypeReference<T> type) {
        return (T) this.hands.codec().readPayload(this.envelope.payload(), type.getType());
    }

    @Override
    public boolean acknowledge() {
        return ended(this.hands.leases().acknowledge(this.claimed.lease()));
    }

    @Override
    public boolean retry(Duration delay, String failure) {
        Duration wait = MessageWriter.wholeMillis(MessageLimits.requireDelay(delay));
        if (attempt() >= this.hands.maxAttempts()) {
            return ended(this.hands.leases().deadLetter(this.claimed, failure, true));
        }
        return ended(this.hands.leases().retry(this.claimed.lease(), wait, failure));
    }

    @Override
    public boolean release(Duration delay) {
        Duration wait = MessageWriter.wholeMillis(MessageLimits.requireDelay(delay));
        return ended(this.hands.leases().release(this.claimed, wait));
    }

    @Override
    public boolean deadLetter(String reason) {
        return ended(this.hands.leases().deadLetter(this.claimed, reason, false));
    }

    @Override
    public boolean extend(Duration leaseTime) {
        Duration wanted = MessageWriter.wholeMillis(MessageLimits.requirePositive("Lease time", leaseTime));
        long until = this.hands.nanoTime().getAsLong() + wanted.toNanos();
        if (!this.hands.leases().extend(this.claimed.lease(), wanted)) {
            return ended(false);
        }
        this.leasedUntil.accumulateAndGet(until, (one, other) -> (one - other > 0) ? one : other);
        return true;
    }

    /** Records that the lease has ended, whether or not by this call. */
    private boolean ended(boolean byThisCall) {
        this.leasedUntil.set(this.hands.nanoTime().getAsLong());
        return byThisCall;
    }

    /** Describes the message without its payload, which may be private. */
    @Override
    public String toString() {
        return "ReceivedMessage[queue=%s, id=%s, attempt=%d]".formatted(queue(), id(), attempt());
    }

}
