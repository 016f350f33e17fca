package io.delayqueue.listener.poll;

/**
 * Holds how the attempts of a listener have ended on this node, since the listener was
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

    /** Adds the counts of another queue. */
    public ListenerStatistics plus(ListenerStatistics other) {
        return new ListenerStatistics(this.handled + other.handled, this.failed + other.failed,
                this.retried + other.retried, this.deadLettered + other.deadLettered, this.expired + other.expired,
                this.leasesLost + other.leasesLost, this.redelivered + other.redelivered, this.running + other.running);
    }

}
