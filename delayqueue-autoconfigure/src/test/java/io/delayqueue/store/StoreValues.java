package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.MessageLimits;
import io.delayqueue.MessageState;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.testing.ManualClock;
import org.jspecify.annotations.Nullable;

/**
 * What goes into a store and what should come out of it. Unless a case says otherwise
 * there is one message, called {@link #ID}, that says {@code first}.
 */
final class StoreValues {

    static final Partition QUEUE = Partition.first(new QueueName("contract"));

    static final PartitionTarget HOME = PartitionTarget.first(QUEUE.queue());

    static final String ID = "a";

    static final Duration DELAY = Duration.ofSeconds(10);

    static final Duration LEASE = Duration.ofSeconds(30);

    private StoreValues() {
    }

    /** So many seconds after the clock's start. */
    static Instant at(double seconds) {
        return ManualClock.START.plusNanos(Math.round(seconds * 1_000_000) * 1_000);
    }

    static NewMessage keep(String content, Duration delay) {
        return NewMessage.of(ID, DueTime.after(delay), envelope(content));
    }

    static NewMessage follow(String content, Duration delay) {
        return plain(OnDuplicate.AFTER_CURRENT, content, delay);
    }

    static NewMessage replace(String content, Duration delay) {
        return plain(OnDuplicate.REPLACE, content, delay);
    }

    private static NewMessage plain(OnDuplicate onDuplicate, String content, Duration delay) {
        return new NewMessage(ID, false, DueTime.after(delay), onDuplicate, MessageLimits.NORMAL_PRIORITY, null, null,
                envelope(content));
    }

    static NewMessage called(String id, Duration delay) {
        return NewMessage.of(id, DueTime.after(delay), envelope(id));
    }

    static NewMessage inLane(int priority, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP, priority, null, null, envelope(id));
    }

    static NewMessage expiring(Duration delay, Duration timeToLive) {
        return new NewMessage(ID, false, DueTime.after(delay), OnDuplicate.REPLACE, MessageLimits.NORMAL_PRIORITY,
                timeToLive, null, envelope("first"));
    }

    /** A message that is due now, and may be handled for so long. */
    static NewMessage expiring(String id, Duration timeToLive) {
        return new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, timeToLive, null,
                envelope(id));
    }

    static byte[] envelope(String content) {
        return "{\"v\":1,\"payload\":\"%s\"}".formatted(content).getBytes(StandardCharsets.UTF_8);
    }

    /** A message whose envelope has so many bytes. */
    static NewMessage large(String id, int bytes, @Nullable Duration timeToLive) {
        return new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, timeToLive, null,
                envelope("x".repeat(bytes - envelope("").length)));
    }

    /** A lease of this message that no claim gave. */
    static Lease neverGiven() {
        return new Lease(QUEUE, ID, "1");
    }

    static SendResult result(SendOutcome outcome, Instant due) {
        return new SendResult(QUEUE.queue().value(), ID, due, outcome);
    }

    static StoredMessage waiting(String content, Instant due) {
        return waiting(content, due, 0, 0);
    }

    static StoredMessage waiting(String content, Instant due, int failures, int lapses) {
        return new StoredMessage(QUEUE.queue().value(), ID, MessageState.SCHEDULED, due, null, null,
                MessageLimits.NORMAL_PRIORITY, null, failures, lapses, "\"" + content + "\"", Map.of());
    }

    static StoredMessage expiring(Instant due, Instant expiry, int failures) {
        return new StoredMessage(QUEUE.queue().value(), ID, MessageState.SCHEDULED, due, null, expiry,
                MessageLimits.NORMAL_PRIORITY, null, failures, 0, "\"first\"", Map.of());
    }

    static StoredMessage held(String content, Instant until) {
        return new StoredMessage(QUEUE.queue().value(), ID, MessageState.LEASED, null, until, null,
                MessageLimits.NORMAL_PRIORITY, null, 0, 0, "\"" + content + "\"", Map.of());
    }

    /** The first attempt at the message, by a lease that was given at {@code due}. */
    static Taken firstAttempt(String content, Instant due) {
        return new Taken(lease(due.plus(LEASE)), due, 0, 0, false, null, null, content);
    }

    /**
     * The message that was claimed again when its lease ran out: due when that was given.
     */
    static Taken suspect(Instant claimed, int failures, int lapses) {
        return suspect(claimed, claimed.minus(LEASE), failures, lapses);
    }

    static Taken suspect(Instant claimed, Instant due, int failures, int lapses) {
        return new Taken(lease(claimed.plus(LEASE)), due, failures, lapses, true, null, null, "first");
    }

    /** The lease of the message that was given to last until then. */
    static Lease lease(Instant until) {
        return new Lease(QUEUE, ID, Long.toString(Duration.between(Instant.EPOCH, until).toNanos() / 1_000));
    }

    static DeadLetter letter(Lease lease, Instant died) {
        return letter(lease, died, "failure", null);
    }

    static DeadLetter letter(Lease lease, Instant died, String cause, @Nullable String firstFailure) {
        int failures = (firstFailure != null) ? 2 : 1;
        return new DeadLetter(QUEUE.queue().value(), lease.letterId(), ID, null, at(0), died, failures, 0, cause,
                firstFailure, "\"first\"", Map.of());
    }

}
