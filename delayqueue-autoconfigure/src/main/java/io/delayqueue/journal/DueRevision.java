package io.delayqueue.journal;

/**
 * Holds the time and the revision of an accepted request, by which a restore pages.
 *
 * @param due the due time of a send, or the next check of a cancel or of a row that
 * cannot be read, in milliseconds since the epoch
 * @param revision its row
 */
record DueRevision(long due, long revision) {
}
