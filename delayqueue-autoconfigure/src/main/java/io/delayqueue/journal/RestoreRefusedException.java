package io.delayqueue.journal;

import io.delayqueue.StoreRefusedException;

/**
 * Reports that a queue is not restored: it belongs to another journal, or the database is
 * older than Redis. Nothing was changed.
 *
 * @see JournalOperations
 */
public final class RestoreRefusedException extends StoreRefusedException {

    private static final long serialVersionUID = 1L;

    public RestoreRefusedException(String message) {
        super(message, null);
    }

}
