package io.delayqueue.listener.poll;

/**
 * Counts how the attempts of a listener ended on this node, since the listener was
 * registered and over all its queues.
 *
 * @param handled handlers that returned normally, whether they acknowledged, released or
 * dead-lettered the message
 * @param failed attempts whose handler threw an exception or exceeded its timeout, or
 * could not be called
 * @param retried messages that are due again after a failed attempt
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
