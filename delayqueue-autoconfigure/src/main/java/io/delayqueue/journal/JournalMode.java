package io.delayqueue.journal;

/**
 * Selects what the database keeps of a queue: nothing, the history, requests until they
 * are applied, or messages until they end.
 *
 * @see JournalOperations
 */
public enum JournalMode {

    /** Requests go to the store at once; there is no row. */
    OFF(false, false),

    /**
     * Requests go to the store at once; the transitions of each message are recorded
     * behind, for its history.
     */
    AUDIT(false, true),

    /**
     * A request is a row that is inserted in the caller's transaction and deleted once
     * the store has applied it.
     */
    OUTBOX(true, false),

    /**
     * A request is a row that is inserted in the caller's transaction. The row of a
     * message is deleted when the message has ended, so that it can be restored until
     * then. Transitions are recorded too.
     */
    LEDGER(true, true);

    private final boolean requests;

    private final boolean history;

    JournalMode(boolean requests, boolean history) {
        this.requests = requests;
        this.history = history;
    }

    /** Returns whether requests are recorded before they go to the store. */
    public boolean recordsRequests() {
        return this.requests;
    }

    /** Returns whether the transitions of messages are recorded. */
    public boolean recordsHistory() {
        return this.history;
    }

}
