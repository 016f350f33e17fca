package io.delayqueue.journal;

import io.delayqueue.QueueName;

/**
 * Reports that a message cannot be handled in a transaction: the journal has neither its
 * row nor a record that it was handled, cancelled or replaced. The database has lost the
 * row, or an old copy of the store has brought the message back. The attempt counts; the
 * message becomes a dead letter, which an operator redrives or purges.
 */
final class MissingJournalRowException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    MissingJournalRowException(QueueName queue, String id, long revision) {
        super(("The journal does not know whether message '%s' of queue '%s' was handled: it has no row of revision %d, "
                + "and no record of its end. The database has lost the row, or Redis has brought an old message back. "
                + "Redrive the dead letter to handle it, or purge it")
            .formatted(id, queue, revision));
    }

}
