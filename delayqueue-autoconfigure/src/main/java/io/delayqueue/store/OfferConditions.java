package io.delayqueue.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

/**
 * Holds the conditions of a call with which a journal applies a request.
 *
 * @param revision the revision of the request; a cancel or a reschedule does not find a
 * message of a later one
 * @param deadline the time of each partition, in microseconds since the epoch, after
 * which it rejects the call, because another node may apply the request then
 * @param restores whether the store had the messages already, or had applied the cancel
 * or the reschedule: a message that it has lost is due when it was, even if that is past
 * @param failed the failed attempts of the messages, by the ids of the call, that the
 * store counts if it has lost them
 * @param voids the revisions, by the ids of the call, that a send or a cancel makes void:
 * the store keeps them out for {@link #VOID_MEMORY}, also if it has lost them
 * @param dueThere the only due time that a reschedule changes, in milliseconds since the
 * epoch, to an earlier one only if the message was never leased; {@code null} for any
 */
public record OfferConditions(long revision, ToLongFunction<Partition> deadline, boolean restores,
        Map<String, FailedAttempts> failed, Map<String, List<Long>> voids, @Nullable Long dueThere) {

    /**
     * For how long the store keeps out a message that is void or has ended, and whose row
     * was deleted: longer than the deadline of any node that has read the row before.
     */
    public static final Duration VOID_MEMORY = Duration.ofMinutes(1);

    /**
     * Creates an offer of messages that the store did not have, which makes nothing void.
     */
    public OfferConditions(long revision, ToLongFunction<Partition> deadline) {
        this(revision, deadline, false, Map.of(), Map.of(), null);
    }

    /** Returns this offer for what the store had already. */
    public OfferConditions restoring() {
        return new OfferConditions(this.revision, this.deadline, true, this.failed, this.voids, this.dueThere);
    }

    /** Returns this offer for messages that have failed. */
    public OfferConditions failed(Map<String, FailedAttempts> attempts) {
        return new OfferConditions(this.revision, this.deadline, this.restores, attempts, this.voids, this.dueThere);
    }

    /** Returns this offer with what it makes void. */
    public OfferConditions voiding(Map<String, List<Long>> revisions) {
        return new OfferConditions(this.revision, this.deadline, this.restores, this.failed, revisions, this.dueThere);
    }

    /** Returns this offer for a reschedule that changes one due time only. */
    public OfferConditions ifDueAt(long millis) {
        return new OfferConditions(this.revision, this.deadline, this.restores, this.failed, this.voids, millis);
    }

    /** Returns the failed attempts of the message of an id. */
    public FailedAttempts failedOf(String id) {
        return this.failed.getOrDefault(id, FailedAttempts.NONE);
    }

    /** Returns the revisions of an id that a request makes void. */
    public List<Long> voidsOf(String id) {
        return this.voids.getOrDefault(id, List.of());
    }

}
