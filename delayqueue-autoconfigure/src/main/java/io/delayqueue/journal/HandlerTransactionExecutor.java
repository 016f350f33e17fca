package io.delayqueue.journal;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;

import io.delayqueue.QueueName;
import io.delayqueue.journal.HandlerTransactionException.Reason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Runs each handler in a transaction that also records that its message was handled, so
 * that the writes of a handler take effect once. A message whose record is committed is
 * not handled again. Thread-safe; a method uses one connection, that of the handler, and
 * another one only after the first was lost.
 */
public final class HandlerTransactionExecutor {

    private static final Logger logger = LoggerFactory.getLogger(HandlerTransactionExecutor.class);

    /** How long a handler waits for the first comparison after a start. */
    private static final Duration COMPARISON_LIMIT = Duration.ofSeconds(10);

    private final JournalStatus status;

    private final HandledTable handled;

    private final PresentTransaction present;

    private final PlatformTransactionManager transactions;

    private final TransactionDefinition definition;

    HandlerTransactionExecutor(JournalDatabase database, JournalStatus status,
            PlatformTransactionManager transactions) {
        this.status = status;
        this.handled = new HandledTable(database);
        this.present = new PresentTransaction(database.dataSource());
        this.transactions = transactions;
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setName("delayqueue-handler");
        // The rows of the message must be read as they are after the insert.
        definition.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        this.definition = definition;
    }

    /**
     * Begins a transaction and rolls it back, to check the transaction manager. Checks
     * nothing while the database is away.
     * @throws IllegalArgumentException if it cannot begin transactions of the journal's
     * {@code DataSource}
     */
    public void requireSuitableTransactions() {
        boolean suitable;
        try {
            TransactionStatus transaction = this.transactions.getTransaction(this.definition);
            suitable = this.present.isOfDataSource();
            this.transactions.rollback(transaction);
        }
        catch (CannotCreateTransactionException ex) {
            logger.debug("No transaction can be begun yet, so the transaction manager is not checked", ex);
            return;
        }
        catch (TransactionException ex) {
            throw new IllegalArgumentException(
                    "%s cannot begin a transaction at READ COMMITTED: %s".formatted(this.transactions, ex.getMessage()),
                    ex);
        }
        if (!suitable) {
            throw new IllegalArgumentException(("%s has another DataSource than the journal: annotate a transaction "
                    + "manager of the journal's DataSource with @DelayQueueTransactionManager")
                .formatted(this.transactions));
        }
    }

    /**
     * Runs a handler in a transaction, unless an earlier one has committed. A message
     * without a revision, from before the queue was a ledger, is handled in a transaction
     * that records nothing.
     * @param revision the row of the message; 0 if there is none
     * @throws HandlerTransactionException if no attempt is to count
     * @throws MissingJournalRowException if the journal does not know the message
     * @throws Throwable the exception of the handler or of the commit
     */
    public void execute(QueueName queue, String id, long revision, Handler handler) throws Throwable {
        Handling handling = new Handling(queue, id, revision);
        requirePair(handling);
        TransactionStatus transaction = begin();
        boolean recorded;
        boolean commit;
        try {
            recorded = handling.revision() == 0 || record(handling);
            commit = recorded && call(handler);
        }
        catch (Throwable ex) {
            rollBack(transaction, handling, ex);
            throw ex;
        }
        if (commit) {
            commit(transaction, handling);
        }
        else {
            rollBack(transaction, handling, null);
        }
        if (!recorded && !hasEnded(handling)) {
            throw new MissingJournalRowException(queue, id, revision);
        }
    }

    private void requirePair(Handling handling) {
        String reason;
        try {
            reason = (handling.revision() == 0) ? null : this.status.unpaired(handling.queue(), COMPARISON_LIMIT);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new HandlerTransactionException(Reason.UNAVAILABLE,
                    "Queue '%s' was not compared with the journal before the timeout or stop of its listener"
                        .formatted(handling.queue()),
                    ex);
        }
        if (reason != null) {
            throw new HandlerTransactionException(Reason.UNAVAILABLE, reason, null);
        }
    }

    /**
     * Calls the handler. An interrupt was meant for it: on a virtual thread, one that is
     * still pending would close the connection of the statements that follow.
     */
    private static boolean call(Handler handler) throws Throwable {
        try {
            return handler.call();
        }
        finally {
            Thread.interrupted();
        }
    }

    private TransactionStatus begin() {
        try {
            return this.transactions.getTransaction(this.definition);
        }
        catch (RuntimeException ex) {
            throw new HandlerTransactionException(Reason.UNAVAILABLE, "No transaction can be begun", ex);
        }
    }

    /** Inserts the record; returns whether the handler is to be called. */
    private boolean record(Handling handling) {
        try {
            return this.handled.insert(handling.queue(), handling.id(), handling.revision());
        }
        catch (PessimisticLockingFailureException | QueryTimeoutException ex) {
            throw new HandlerTransactionException(Reason.HELD,
                    "Another transaction has recorded message '%s' of queue '%s', and has not ended"
                        .formatted(handling.id(), handling.queue()),
                    ex);
        }
        catch (RuntimeException ex) {
            throw new HandlerTransactionException(Reason.UNAVAILABLE, "The message cannot be recorded as handled", ex);
        }
    }

    private boolean hasEnded(Handling handling) {
        boolean ended;
        try {
            ended = this.handled.hasEnded(handling.queue(), handling.id(), handling.revision());
        }
        catch (RuntimeException ex) {
            throw new HandlerTransactionException(Reason.UNAVAILABLE, "The record of a message cannot be read", ex);
        }
        logger.debug("Message '{}' of queue '{}' has no row; known to have ended: {}", handling.id(), handling.queue(),
                ended);
        return ended;
    }

    private void commit(TransactionStatus transaction, Handling handling) {
        try {
            this.transactions.commit(transaction);
        }
        catch (RuntimeException | Error ex) {
            if (isCommitted(handling, ex)) {
                logger.warn("Message '{}' of queue '{}' was handled, and its transaction has committed, although the "
                        + "commit failed here", handling.id(), handling.queue(), ex);
                return;
            }
            if (isConnectionLost(ex)) {
                throw lost(handling, ex);
            }
            throw ex;
        }
    }

    /**
     * Rolls back. That fails if the connection is lost, and only then.
     * @param failure why; {@code null} if the handler has asked for it
     */
    private void rollBack(TransactionStatus transaction, Handling handling, @Nullable Throwable failure) {
        try {
            this.transactions.rollback(transaction);
        }
        catch (RuntimeException | Error ex) {
            if (failure != null) {
                ex.addSuppressed(failure);
            }
            if (failure instanceof HandlerTransactionException known) {
                throw known;
            }
            isCommitted(handling, ex);
            throw lost(handling, ex);
        }
    }

    private static HandlerTransactionException lost(Handling handling, Throwable failure) {
        return new HandlerTransactionException(Reason.LOST,
                "The connection of the transaction of message '%s' of queue '%s' was lost".formatted(handling.id(),
                        handling.queue()),
                failure);
    }

    /**
     * Returns whether the record of a message is committed.
     * @throws HandlerTransactionException if the database does not answer
     */
    private boolean isCommitted(Handling handling, Throwable failure) {
        // An interrupt may have closed the first connection, and would close this one
        // too.
        Thread.interrupted();
        try {
            return this.handled.contains(handling.queue(), handling.id(), handling.revision());
        }
        catch (RuntimeException ex) {
            failure.addSuppressed(ex);
            throw new HandlerTransactionException(Reason.UNAVAILABLE, "The transaction was lost with the database",
                    failure);
        }
    }

    /**
     * Returns whether a failure is that of a connection, rather than an answer of the
     * database, which always has a state.
     */
    private static boolean isConnectionLost(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                String state = sql.getSQLState();
                return state == null || state.startsWith("08") || state.startsWith("57P")
                        || sql instanceof SQLNonTransientConnectionException
                        || sql instanceof SQLTransientConnectionException || sql instanceof SQLRecoverableException;
            }
        }
        return false;
    }

    /**
     * Holds the identity of a message that is handled.
     *
     * @param revision its row; 0 if there is none
     */
    private record Handling(QueueName queue, String id, long revision) {
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
