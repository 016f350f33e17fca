package io.delayqueue.journal;

import io.delayqueue.QueueName;

/**
 * Holds a row that this node has claimed.
 *
 * @param revision the primary key of the row
 * @param request its request; a relative due time counts from when the row was read
 * @param behind whether the journal has an earlier row of the same id
 */
record JournalRow(long revision, JournalRequest request, boolean behind) {

    /** Returns what rows have in common that must be applied one after another. */
    Key key() {
        return new Key(this.request.queue(), this.request.id());
    }

    /**
     * Identifies a message.
     *
     * @param queue its queue
     * @param id its id
     */
    record Key(QueueName queue, String id) {
    }

}
