package io.delayqueue.listener.poll;

/**
 * What a listener did since it was registered, all queues together.
 *
 * @param handled handlers that succeeded
 * @param failed handlers that failed
 * @param retried messages given back after a failure
 * @param dead messages made dead letters
 * @param expired messages past their time to live that were found here
 * @param refused settlements and renewals turned away because the message had passed on
 * @param lapsed messages claimed whose lease before had run out
 * @param running messages being handled now
 */
public record ListenerStatistics(long handled, long failed, long retried, long dead, long expired, long refused,
        long lapsed, int running) {
}
