package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * A message on its way into the store.
 *
 * @param id its id
 * @param generated whether {@code id} was made for this send, so that the store cannot
 * hold it unless this very send put it there
 * @param due when it shall be due
 * @param onDuplicate what to do if the store holds {@code id}
 * @param priority its lane
 * @param timeToLive how long after its due time it may be handled; {@code null} for ever
 * @param group its group; {@code null} for none
 * @param envelope its stored form
 * @param stamp names this send, so that a repeated call of it is known wherever it comes
 */
public record NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
        @Nullable Duration timeToLive, @Nullable String group, byte[] envelope, long stamp) {

    /** A message of a send of its own. */
    public NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive, @Nullable String group, byte[] envelope) {
        this(id, generated, due, onDuplicate, priority, timeToLive, group, envelope,
                ThreadLocalRandom.current().nextLong());
    }

    /**
     * A message without priority, time to live or group, kept if the store holds its id.
     */
    public static NewMessage of(String id, DueTime due, byte[] envelope) {
        return new NewMessage(id, false, due, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, null, envelope);
    }

    /**
     * The message of a dead letter, due now. Its stamp comes from the letter, so that it
     * is stored once however often its redrive is repeated.
     */
    public static NewMessage of(String letterId, int priority, @Nullable Duration timeToLive, @Nullable String group,
            byte[] envelope) {
        long stamp = UUID.nameUUIDFromBytes(letterId.getBytes(StandardCharsets.UTF_8)).getLeastSignificantBits();
        return new NewMessage(Lease.idOf(letterId), false, DueTime.NOW, OnDuplicate.KEEP, priority, timeToLive, group,
                envelope, stamp);
    }

    /** Whether neither its id nor its group can be anywhere in the queue yet. */
    public boolean unique() {
        return this.generated && this.group == null;
    }

    /** What decides where it goes: messages of one group stay together. */
    public String routingKey() {
        return (this.group != null) ? this.group : this.id;
    }

    /** What a store answers if this would change the group of what it holds. */
    public StoreRefusedException changesGroup(QueueName queue) {
        return new StoreRefusedException(
                ("Message '%s' of queue '%s' cannot be replaced or followed by one of %s, as it is not held in that: send "
                        + "an id always with the same group. Nothing was stored")
                    .formatted(this.id, queue, (this.group != null) ? "group '" + this.group + "'" : "no group"),
                null);
    }

}
