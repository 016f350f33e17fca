package io.delayqueue.journal;

/**
 * Holds the key of an accepted send.
 *
 * @param due its due time, in milliseconds since the epoch
 * @param revision its row
 */
record DueKey(long due, long revision) {
}
