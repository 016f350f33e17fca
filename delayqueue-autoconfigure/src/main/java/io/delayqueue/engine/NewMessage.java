package io.delayqueue.engine;

import java.time.Duration;

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
 */
public record NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
        @Nullable Duration timeToLive, @Nullable String group, byte[] envelope) {

    /**
     * A message without priority, time to live or group, kept if the store holds its id.
     */
    public static NewMessage of(String id, DueTime due, byte[] envelope) {
        return new NewMessage(id, false, due, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, null, envelope);
    }

    /** Whether neither its id nor its group can be anywhere in the queue yet. */
    public boolean unique() {
        return this.generated && this.group == null;
    }

    /** What decides where it goes: messages of one group stay together. */
    String routingKey() {
        return (this.group != null) ? this.group : this.id;
    }

    /** What a store answers if it shall replace the message of that id by this one. */
    public StoreRefusedException changesGroup(QueueName queue) {
        return new StoreRefusedException(
                ("Message '%s' of queue '%s' cannot be replaced by one of %s, as it is not held in that: send an id always "
                        + "with the same group. Nothing was stored")
                    .formatted(this.id, queue, (this.group != null) ? "group '" + this.group + "'" : "no group"),
                null);
    }

}
