package io.delayqueue.memory;

import java.time.Instant;
import java.util.Comparator;

import io.delayqueue.FailureReasons;
import io.delayqueue.MessageLimits;
import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

/**
 * Holds a message of a queue and the state of its attempts. {@link MemoryQueue} changes
 * it, and alone knows which of its sets it is in.
 */
final class MemoryMessage {

    /** Orders the messages of one lane as they are claimed. */
    static final Comparator<MemoryMessage> BY_DUE_TIME = Comparator
        .comparingLong((MemoryMessage message) -> message.due)
        .thenComparing((message) -> message.id);

    /** Orders the messages of one group as they are handled. */
    static final Comparator<MemoryMessage> BY_GROUP_ORDER = Comparator
        .comparingLong((MemoryMessage message) -> message.wanted)
        .thenComparing((message) -> message.id);

    /** Orders leased messages by the end of their leases. */
    static final Comparator<MemoryMessage> BY_DEADLINE = Comparator
        .comparingLong((MemoryMessage message) -> message.deadline)
        .thenComparing((message) -> message.id);

    /** Value of {@link #expiry} and {@link #token} of a message that has none. */
    static final long NONE = 0;

    final String id;

    final byte[] envelope;

    final int lane;

    final @Nullable String group;

    /**
     * The time from which it may be claimed, ms; of a leased message, before the claim.
     */
    long due;

    /** The due time that its sender requested, ms: not moved by retries and releases. */
    long wanted;

    /** The time from which it must not be handled, ms. */
    long expiry = NONE;

    /** The token of its lease or, while it waits, of its last one. */
    long token = NONE;

    /** The end of its lease, microseconds, if it is leased. */
    long deadline;

    boolean leased;

    /** Whether it waits because its last holder released it or retries it. */
    boolean released;

    int failures;

    /** Leases that ran out after a recorded start. */
    int lapses;

    Redelivery redelivery = Redelivery.NONE;

    String firstFailure = "";

    String lastFailure = "";

    /** When the handler failed last, ms. */
    long lastFailedAt;

    /** Whether it must not be retried when its lease ends. */
    boolean cancelled;

    /** Its row in a journal; 0 if there is none. */
    final long revision;

    /** Its duplicate window, ms; {@link #NONE} for none. */
    long window = NONE;

    /** The message that replaces it when its lease ends. */
    @Nullable MemoryMessage successor;

    private MemoryMessage(String id, byte[] envelope, int lane, @Nullable String group, long due, long revision) {
        this.id = id;
        this.revision = revision;
        this.envelope = envelope;
        this.lane = lane;
        this.group = group;
        this.due = due;
        this.wanted = due;
    }

    static MemoryMessage of(NewMessage sent, long now) {
        MemoryMessage message = new MemoryMessage(sent.id(), sent.envelope(), sent.priority(), sent.group(),
                dueMillis(sent.due(), now), sent.revision());
        if (sent.timeToLive() != null) {
            message.expiry = message.due + DueTime.ceilToMillis(sent.timeToLive());
        }
        if (sent.duplicateWindow() != null) {
            message.window = DueTime.ceilToMillis(sent.duplicateWindow());
        }
        return message;
    }

    static MemoryMessage of(MemoryDeadLetter deadLetter, long due) {
        MemoryMessage message = new MemoryMessage(deadLetter.id(), deadLetter.envelope(), deadLetter.lane(),
                deadLetter.group(), due, 0);
        if (deadLetter.timeToLive() != NONE) {
            message.expiry = due + deadLetter.timeToLive();
        }
        return message;
    }

    /** Returns a due time in milliseconds; a time in the past becomes now. */
    static long dueMillis(DueTime due, long now) {
        long millis = Micros.ceilToMillis(now);
        return due.relative() ? millis + due.millis() : Math.max(millis, due.millis());
    }

    /** Moves its due time, and its expiry with it. */
    void moveTo(long due) {
        if (this.expiry != NONE) {
            this.expiry += due - this.wanted;
        }
        this.wanted = due;
        this.due = due;
    }

    /**
     * Returns when it is due after its lease ran out, without the usual lease time. A
     * message with an expiry, a lane of its own or a group keeps its due time until it
     * fails; others are due at the end of the lease.
     */
    long dueAfterLapse() {
        return keepsItsDueTime() ? this.wanted : Micros.floorToMillis(this.deadline);
    }

    /**
     * Returns when it is due after its lease ran out, with the usual lease time in
     * microseconds: a plain or failed message is due when its lease was given.
     */
    long dueAfterLapse(long leaseTime) {
        return keepsItsDueTime() ? this.wanted : Micros.floorToMillis(Math.min(this.token - leaseTime, this.deadline));
    }

    /**
     * Returns its due time as a sender sees it. Stores do not keep that of a leased plain
     * message, for which now is returned.
     */
    long dueForSender(long now) {
        return !this.leased ? this.due : isPlain() ? Micros.floorToMillis(now) : this.wanted;
    }

    /**
     * Returns its due time without that of a retry, which stores do not keep for a plain
     * message.
     */
    Instant ownDue(long now) {
        return Instant.ofEpochMilli(isPlain() ? dueForSender(now) : this.wanted);
    }

    private boolean keepsItsDueTime() {
        return !isPlain() && this.failures == 0;
    }

    private boolean isPlain() {
        return this.expiry == NONE && this.lane == MessageLimits.NORMAL_PRIORITY && this.group == null;
    }

    /** Describes it; one whose lease ran out as it is after the lease is ended. */
    MessageSummary summary(QueueName queue, long now) {
        boolean live = this.leased && this.deadline > now;
        long due = this.leased ? dueAfterLapse() : this.due;
        return new MessageSummary(queue.value(), this.id, live ? MessageState.LEASED : MessageState.SCHEDULED,
                live ? null : Instant.ofEpochMilli(due), live ? Micros.toInstant(this.deadline) : null, expiresAt(),
                this.lane, this.group, this.failures, this.lapses, failureReasons());
    }

    private @Nullable FailureReasons failureReasons() {
        if (this.failures == 0) {
            return null;
        }
        String first = this.firstFailure.isEmpty() ? null : this.firstFailure;
        return this.lastFailure.isEmpty() ? new FailureReasons(first, null, null)
                : new FailureReasons(first, this.lastFailure, Instant.ofEpochMilli(this.lastFailedAt));
    }

    /** Returns whether it came back from a lease. */
    boolean isTried() {
        return this.failures + this.lapses > 0 || this.token != NONE;
    }

    /** Counts a failure of its handler. */
    void failed(String failure, long nowMillis) {
        String line = failure.replace('\n', ' ');
        if (this.failures == 0) {
            this.firstFailure = line;
        }
        this.failures++;
        this.lastFailure = line;
        this.lastFailedAt = nowMillis;
    }

    /** Returns whether a journal recorded it after a request; {@code null} for none. */
    boolean isLaterThan(@Nullable OfferConditions offer) {
        return offer != null && this.revision > offer.revision();
    }

    /** Returns it as it is given to the holder of its present lease. */
    ClaimedMessage claimed(Partition partition) {
        return new ClaimedMessage(new Lease(partition, this.id, Long.toString(this.token)),
                Instant.ofEpochMilli(this.due), this.failures, this.lapses, this.redelivery != Redelivery.NONE,
                expiresAt(), this.group, this.envelope, this.revision);
    }

    /** Returns whether a send with a row in a journal has stored it. */
    boolean isOf(NewMessage sent) {
        return sent.revision() != 0 && this.revision == sent.revision();
    }

    boolean isLaterThan(MemoryMessage other) {
        return other.revision != 0 && this.revision > other.revision;
    }

    /** Returns whether its lease is followed by something other than a next attempt. */
    boolean isSuperseded() {
        return this.cancelled || this.successor != null;
    }

    /** Returns whether a send to its id that does not replace becomes its successor. */
    boolean isFollowedBy(NewMessage sent, long now) {
        boolean asked = sent.onDuplicate() != OnDuplicate.KEEP || this.cancelled;
        return asked && this.leased && this.deadline > now && this.successor == null;
    }

    /**
     * Returns whether it waits for another time than its own, as it was released or is
     * retried.
     */
    boolean isPutOff() {
        return this.due != this.wanted;
    }

    boolean isExpired(long nowMillis) {
        return this.expiry != NONE && this.expiry <= nowMillis;
    }

    /** Returns its time to live from its due time on, ms. */
    long timeToLive() {
        return (this.expiry != NONE) ? this.expiry - this.wanted : NONE;
    }

    /**
     * Returns a due time, at most the expiry, so that an expired message releases its
     * group and its id.
     * @param now in microseconds
     */
    long untilExpiry(long due, long now) {
        return (this.expiry != NONE) ? Math.min(due, Math.max(this.expiry, Micros.ceilToMillis(now))) : due;
    }

    @Nullable Instant expiresAt() {
        return (this.expiry != NONE) ? Instant.ofEpochMilli(this.expiry) : null;
    }

    boolean hasToken(String token) {
        return Long.toString(this.token).equals(token);
    }

    /** Classifies a message by whether its last lease may have killed the process. */
    enum Redelivery {

        /** The holder ended its last lease, if it had one. */
        NONE,

        /** Its last lease ran out. */
        REDELIVERED,

        /** Its last lease ran out, and its handler was started in the present lease. */
        STARTED

    }

}
