package io.delayqueue.engine;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
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
 * @param envelope its stored form
 */
public record NewMessage(String id, boolean generated, DueTime due, OnDuplicate onDuplicate, int priority,
        @Nullable Duration timeToLive, byte[] envelope) {

    /** A message without priority or time to live, kept if the store holds its id. */
    public static NewMessage of(String id, DueTime due, byte[] envelope) {
        return new NewMessage(id, false, due, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, envelope);
    }

}
