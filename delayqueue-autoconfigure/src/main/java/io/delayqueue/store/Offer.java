package io.delayqueue.store;

import org.jspecify.annotations.Nullable;

/**
 * Limits a call with which a journal applies a request.
 *
 * @param revision the revision of the request; a cancel or a reschedule does not find a
 * message of a later one
 * @param deadline the time of the store, in microseconds since the epoch, after which it
 * rejects the call, because another node may apply the request then
 * @param failures how often the message has failed, if the store had it already: one that
 * it has lost is due when it was; {@code null} if it is sent
 */
public record Offer(long revision, long deadline, @Nullable Integer failures) {

    /** Returns whether the message is restored if the store does not have it. */
    public boolean restores() {
        return this.failures != null;
    }

}
