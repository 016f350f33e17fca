package io.delayqueue.store;

/**
 * Limits a call with which a journal applies a request.
 *
 * @param revision the revision of the request; a cancel or a reschedule does not find a
 * message of a later one
 * @param deadline the time of the store, in microseconds since the epoch, after which it
 * rejects the call, because another node may apply the request then
 * @param failures how often the message has failed, if it must be restored
 */
public record Offer(long revision, long deadline, int failures) {

}
