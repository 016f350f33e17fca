package io.delayqueue.listener.poll;

/**
 * Counts the events of a listener since its registration, over all queues.
 *
 * @param handled handlers that succeeded
 * @param failed handlers that failed
 * @param retried messages given back after a failure
 * @param dead messages that were dead-lettered
 * @param expired messages past their time to live that were found here
 * @param refused settlements and renewals that the store rejected, as the lease was lost
 * @param lapsed messages claimed after an earlier lease had run out
 * @param running messages being handled now
 */
public record ListenerStatistics(long handled, long failed, long retried, long dead, long expired, long refused,
        long lapsed, int running) {
}
