package io.delayqueue.journal;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Records which messages were handled, in the transactions of their handlers. A message
 * is handled if its row in the journal exists and no other transaction has recorded it.
 * Thread-safe; methods use one connection, that of the handler.
 */
public final class HandledMessages {

    private static final Logger logger = LoggerFactory.getLogger(HandledMessages.class);

    /** How long a handler waits for the first comparison after a start. */
    private static final Duration COMPARISON_LIMIT = Duration.ofSeconds(10);

    private final JdbcClient jdbc;

    private final PresentTransaction present;

    private final JournalStatus status;

    private final PlatformTransactionManager transactions;

    private final TransactionDefinition definition;

    HandledMessages(JournalTable table, JournalStatus status, PlatformTransactionManager transactions) {
        this.status = status;
        this.jdbc = JdbcClient.create(table.dataSource());
        this.present = new PresentTransaction(table.dataSource());
        this.transactions = transactions;
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setName("delayqueue-handler");
        // The row of the message must be read as it is after the insert.
        definition.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        this.definition = definition;
    }

    /**
     * Runs a handler in a transaction, unless the message was handled in an earlier one.
     * A message without a row, from before the journal was a ledger, is handled in a
     * transaction that records nothing.
     * @param revision the row of the message; 0 if there is none
     * @throws IllegalStateException if the database is older than the store, so that the
     * row may be missing for another reason; before the handler is called
     * @throws Throwable the exception of the handler or of the transaction
     */
    public void execute(long revision, Handler handler) throws Throwable {
        if (revision != 0) {
            this.status.requireRecent(COMPARISON_LIMIT);
        }
        TransactionStatus status = this.transactions.getTransaction(this.definition);
        boolean commit;
        try {
            requireJournal();
            commit = (revision == 0 || record(revision)) && handler.call();
        }
        catch (Throwable ex) {
            rollBack(status, ex);
            throw ex;
        }
        if (commit) {
            this.transactions.commit(status);
        }
        else {
            this.transactions.rollback(status);
        }
    }

    private void requireJournal() {
        if (!this.present.isOfDataSource()) {
            throw new IllegalTransactionStateException(
                    "A transactional handler needs a transaction manager of the journal's DataSource: %s has another one"
                        .formatted(this.transactions));
        }
    }

    /**
     * Records a message; waits for another transaction that has recorded it and not
     * ended. The row is read after that, as a node deletes it once the message has ended.
     */
    private boolean record(long revision) {
        try {
            this.jdbc.sql("INSERT INTO delayqueue_handled (revision) VALUES (?)").param(revision).update();
        }
        catch (DuplicateKeyException ex) {
            logger.debug("The message with revision {} was handled before", revision);
            return false;
        }
        return this.jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal WHERE revision = ?")
            .param(revision)
            .query(Long.class)
            .single() > 0;
    }

    private void rollBack(TransactionStatus status, Throwable failure) {
        try {
            this.transactions.rollback(status);
        }
        catch (RuntimeException | Error ex) {
            failure.addSuppressed(ex);
        }
    }

    /** Calls a handler. */
    @FunctionalInterface
    public interface Handler {

        /**
         * Calls the handler.
         * @return whether the transaction is to commit
         * @throws Throwable the exception of the handler
         */
        boolean call() throws Throwable;

    }

}
