package io.delayqueue.journal;

/**
 * Holds a row that this node has claimed.
 *
 * @param revision the primary key of the row
 * @param request its request; a relative due time counts from when the row was read
 * @param behind whether the journal has an earlier row of the same id
 */
record JournalRow(long revision, JournalRequest request, boolean behind) {

}
