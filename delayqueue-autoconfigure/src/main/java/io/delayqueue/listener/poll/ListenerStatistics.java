package io.delayqueue.listener.poll;

/**
 * Holds a snapshot of the counters of a listener since its registration, over all queues.
 *
 * @param handled handlers that succeeded
 * @param failed handlers that failed
 * @param retried messages given back after a failure
 * @param deadLettered messages that were dead-lettered
 * @param expired messages past their time to live that were found here
 * @param leasesLost settlements and renewals that the store rejected, as the lease was
 * lost
 * @param redelivered messages claimed after an earlier lease had run out
 * @param running messages being handled now
 */
public record ListenerStatistics(long handled, long failed, long retried, long deadLettered, long expired,
        long leasesLost, long redelivered, int running) {
}
