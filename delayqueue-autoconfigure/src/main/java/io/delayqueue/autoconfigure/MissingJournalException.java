package io.delayqueue.autoconfigure;

/**
 * Reports that a queue is configured to have a journal, and the application has no
 * database for it.
 */
final class MissingJournalException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    MissingJournalException() {
        super("delayqueue.journal.mode, or the journal-mode of a queue, is 'outbox', which needs spring-boot-jdbc and one "
                + "DataSource bean, or one that is primary. Without it sends would bypass the journal");
    }

}
