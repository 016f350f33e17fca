package io.delayqueue.memory;

import java.time.Instant;
import java.util.Comparator;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;

/**
 * A message that a queue holds, and what is known of its attempts. {@link MemoryQueue}
 * changes it, and alone knows which of its sets it is in.
 */
final class MemoryMessage {

    /** Messages of one lane in the order in which they are claimed. */
    static final Comparator<MemoryMessage> BY_DUE_TIME = Comparator
        .comparingLong((MemoryMessage message) -> message.due)
        .thenComparing((message) -> message.id);

    /** Messages of one group in the order in which they are handled. */
    static final Comparator<MemoryMessage> BY_TURN = Comparator.comparingLong((MemoryMessage message) -> message.wanted)
        .thenComparing((message) -> message.id);

    /** Leased messages in the order in which their leases run out. */
    static final Comparator<MemoryMessage> BY_DEADLINE = Comparator
        .comparingLong((MemoryMessage message) -> message.deadline)
        .thenComparing((message) -> message.id);

    /** Value of {@link #expiry} and {@link #token} of a message that has none. */
    static final long NONE = 0;

    final String id;

    final byte[] envelope;

    final int lane;

    final @Nullable String group;

    /** From when on it may be claimed, ms; of a leased message, when it was. */
    long due;

    /** The due time that its sender wanted, ms: not moved by retries and releases. */
    long wanted;

    /** From when on it must not be handled, ms. */
    long expiry = NONE;

    /** The token of its lease or, while it waits, of its last one. */
    long token = NONE;

    /** The end of its lease, microseconds, if it is leased. */
    long deadline;

    boolean leased;

    /** Whether it waits because its last holder gave it back. */
    boolean givenBack;

    int failures;

    /** Leases that ran out after a recorded start. */
    int lapses;

    Suspicion suspicion = Suspicion.NONE;

    String firstFailure = "";

    /** Whether it must not be retried when its lease ends. */
    boolean cancelled;

    /** What takes its place when its lease ends. */
    @Nullable MemoryMessage successor;

    private MemoryMessage(String id, byte[] envelope, int lane, @Nullable String group, long due) {
        this.id = id;
        this.envelope = envelope;
        this.lane = lane;
        this.group = group;
        this.due = due;
        this.wanted = due;
    }

    static MemoryMessage of(NewMessage sent, long now) {
        MemoryMessage message = new MemoryMessage(sent.id(), sent.envelope(), sent.priority(), sent.group(),
                dueMillis(sent.due(), now));
        if (sent.timeToLive() != null) {
            message.expiry = message.due + DueTime.ceilToMillis(sent.timeToLive());
        }
        return message;
    }

    static MemoryMessage of(MemoryDeadLetter letter, long due) {
        MemoryMessage message = new MemoryMessage(letter.id(), letter.envelope(), letter.lane(), letter.group(), due);
        if (letter.timeToLive() != NONE) {
            message.expiry = due + letter.timeToLive();
        }
        return message;
    }

    /** When something is due that shall be, in milliseconds; the past means now. */
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
     * When it is due after its lease ran out, for who does not know how long leases are.
     * One that may expire or has a lane of its own or a group keeps its due time until it
     * fails, others were due by then.
     */
    long dueAfterLapse() {
        return keepsItsDueTime() ? this.wanted : Micros.floorToMillis(this.deadline);
    }

    /**
     * The same for who knows how long leases usually are, in microseconds: others were
     * due when their lease was given.
     */
    long dueAfterLapse(long leaseTime) {
        return keepsItsDueTime() ? this.wanted : Micros.floorToMillis(Math.min(this.token - leaseTime, this.deadline));
    }

    /**
     * When it is due, as a sender is answered. Of a leased message a store remembers that
     * only if it is not plain; else it was due by now.
     */
    long dueForSender(long now) {
        return !this.leased ? this.due : isPlain() ? Micros.floorToMillis(now) : this.wanted;
    }

    private boolean keepsItsDueTime() {
        return !isPlain() && this.failures == 0;
    }

    private boolean isPlain() {
        return this.expiry == NONE && this.lane == MessageLimits.NORMAL_PRIORITY && this.group == null;
    }

    /** Whether something other than a next attempt follows its lease. */
    boolean isSuperseded() {
        return this.cancelled || this.successor != null;
    }

    /** Whether what is sent to its id, and does not replace, would be its successor. */
    boolean isFollowedBy(NewMessage sent, long now) {
        boolean asked = sent.onDuplicate() != OnDuplicate.KEEP || this.cancelled;
        return asked && this.leased && this.deadline > now && this.successor == null;
    }

    /** Whether it waits for another time than its own, as it was given back. */
    boolean isPutOff() {
        return this.due != this.wanted;
    }

    boolean isExpired(long nowMillis) {
        return this.expiry != NONE && this.expiry <= nowMillis;
    }

    /** How long it may live from its due time on, ms. */
    long timeToLive() {
        return (this.expiry != NONE) ? this.expiry - this.wanted : NONE;
    }

    @Nullable Instant expiresAt() {
        return (this.expiry != NONE) ? Instant.ofEpochMilli(this.expiry) : null;
    }

    boolean hasToken(String token) {
        return Long.toString(this.token).equals(token);
    }

    /** What its last lease tells about whether it may kill its process. */
    enum Suspicion {

        /** Its last lease was ended by its holder, if it had one. */
        NONE,

        /** Its last lease ran out. */
        SUSPECT,

        /** It is a suspect, and its handler has been started in this lease. */
        STARTED

    }

}
