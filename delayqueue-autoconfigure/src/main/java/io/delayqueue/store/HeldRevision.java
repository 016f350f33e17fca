package io.delayqueue.store;

/**
 * Holds what a partition has of a message of a journal.
 *
 * @param known whether an offer of the revision would be kept out: the partition holds
 * this or a later one, or it has ended
 * @param held the revision of the id that it holds; 0 if none
 */
public record HeldRevision(boolean known, long held) {
}
