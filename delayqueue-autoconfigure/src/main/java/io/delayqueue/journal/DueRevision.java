package io.delayqueue.journal;

/**
 * Holds the due time and the revision of an accepted send, by which a restore pages.
 *
 * @param due its due time, in milliseconds since the epoch
 * @param revision its row
 */
record DueRevision(long due, long revision) {
}
