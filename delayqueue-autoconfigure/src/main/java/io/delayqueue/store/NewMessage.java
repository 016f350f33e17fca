package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * Holds a message that is to be stored.
 *
 * @param id its id
 * @param generated whether {@code id} was generated for this send, so that the store can
 * hold it only as a result of this send
 * @param due when it is due
 * @param onDuplicate how to treat {@code id} if the store already holds it
 * @param priority its lane
 * @param timeToLive how long after its due time it may be handled; {@code null} for no
 * limit
 * @param group its group; {@code null} for none
 * @param envelope its stored form
 * @param stamp identifies this send, so that a repeated call is recognized in any
 * partition
 * @param revision its row in a journal, which is deleted when the message has ended; 0 if
 * there is none. Identifies the send instead of {@code stamp}
 * @param duplicateWindow how long its id is kept out after its end; {@code null} for no
 * time
 */
public record NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
        @Nullable Duration timeToLive, @Nullable String group, byte[] envelope, long stamp, long revision,
        @Nullable Duration duplicateWindow) {

    /**
     * The number of ids of a partition whose duplicate windows have begun, from which on
     * messages with such a window are refused.
     */
    public static final int MAX_WINDOWS = 100_000;

    /** The greatest revision: seven digits of base 36. */
    public static final long MAX_REVISION = 78_364_164_095L;

    /** Creates a message without a duplicate window. */
    public NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive, @Nullable String group, byte[] envelope, long stamp, long revision) {
        this(id, generated, due, onDuplicate, priority, timeToLive, group, envelope, stamp, revision, null);
    }

    /** Creates a message without a row in a journal. */
    public NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive, @Nullable String group, byte[] envelope, long stamp) {
        this(id, generated, due, onDuplicate, priority, timeToLive, group, envelope, stamp, 0);
    }

    /** Creates a message with a new stamp. */
    public NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive, @Nullable String group, byte[] envelope) {
        this(id, generated, due, onDuplicate, priority, timeToLive, group, envelope,
                ThreadLocalRandom.current().nextLong());
    }

    /**
     * Creates a message with the default priority, without time to live or group; an
     * existing message with its id is kept.
     */
    public static NewMessage of(String id, DueTime due, byte[] envelope) {
        return new NewMessage(id, false, due, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, null, envelope);
    }

    /**
     * Creates the message of a dead letter, due now. Its stamp is derived from the dead
     * letter, so that it is stored only once if the redrive is repeated.
     */
    public static NewMessage of(String deadLetterId, int priority, @Nullable Duration timeToLive,
            @Nullable String group, byte[] envelope) {
        long stamp = UUID.nameUUIDFromBytes(deadLetterId.getBytes(StandardCharsets.UTF_8)).getLeastSignificantBits();
        return new NewMessage(Lease.idOf(deadLetterId), false, DueTime.NOW, OnDuplicate.KEEP, priority, timeToLive,
                group, envelope, stamp);
    }

    /** Returns this message with another due time. */
    public NewMessage dueAt(DueTime other) {
        return new NewMessage(this.id, this.generated, other, this.onDuplicate, this.priority, this.timeToLive,
                this.group, this.envelope, this.stamp, this.revision, this.duplicateWindow);
    }

    /** Returns this message with its row in a journal. */
    public NewMessage withRevision(long row) {
        return new NewMessage(this.id, this.generated, this.due, this.onDuplicate, this.priority, this.timeToLive,
                this.group, this.envelope, this.stamp, row, this.duplicateWindow);
    }

    /** Returns this message with a duplicate window. */
    public NewMessage withDuplicateWindow(@Nullable Duration window) {
        return Objects.equals(window, this.duplicateWindow) ? this
                : new NewMessage(this.id, this.generated, this.due, this.onDuplicate, this.priority, this.timeToLive,
                        this.group, this.envelope, this.stamp, this.revision, window);
    }

    /** Returns whether it has none of priority, time to live, group and window. */
    public boolean plain() {
        return this.priority == MessageLimits.NORMAL_PRIORITY && this.timeToLive == null && this.group == null
                && this.duplicateWindow == null;
    }

    /** Returns whether the queue can hold neither its id nor its group yet. */
    public boolean unique() {
        return this.generated && this.group == null;
    }

    /**
     * Returns the key that determines its partition; messages of a group share a
     * partition.
     */
    public String routingKey() {
        return (this.group != null) ? this.group : this.id;
    }

    /** Returns the exception for a send that the number of windows does not allow. */
    public StoreRefusedException exceedsWindows(QueueName queue) {
        return new StoreRefusedException(
                ("Message '%s' of queue '%s' is refused: the duplicate windows of %,d of its ids have begun. Shorten the "
                        + "windows, or use more partitions. Nothing was stored")
                    .formatted(this.id, queue, MAX_WINDOWS),
                null);
    }

    /**
     * Returns the exception for a send that would change the group of an existing
     * message.
     */
    public MessageGroupChangeException changesGroup(QueueName queue) {
        return new MessageGroupChangeException(
                ("Message '%s' of queue '%s' cannot be replaced or followed by one of %s, as it is not held in that: send "
                        + "an id always with the same group. Nothing was stored")
                    .formatted(this.id, queue, (this.group != null) ? "group '" + this.group + "'" : "no group"));
    }

}
