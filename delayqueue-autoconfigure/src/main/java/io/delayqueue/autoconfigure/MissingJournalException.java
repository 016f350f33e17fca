package io.delayqueue.autoconfigure;

/**
 * Reports that a queue is configured to have a journal, and the application has no
 * database for it.
 */
final class MissingJournalException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     * @param modes the modes that need it
     * @param consequence the effect of a start without it
     */
    private MissingJournalException(String modes, String consequence) {
        super("delayqueue.journal.mode, or the journal-mode of a queue, is " + modes
                + ", which needs spring-boot-jdbc and one DataSource bean, or one that is primary or has the "
                + "annotation @DelayQueueDataSource. Without it " + consequence);
    }

    static MissingJournalException ofRequests() {
        return new MissingJournalException("'outbox' or 'ledger'", "sends would bypass the journal");
    }

    static MissingJournalException ofHistory() {
        return new MissingJournalException("'audit' or 'ledger'", "no transition would be recorded");
    }

}
