package io.delayqueue.template;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.AfterCommitSendFailedEvent;
import io.delayqueue.BatchSendException;
import io.delayqueue.DelayedMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Holds back the messages of a transaction, and sends them together after the commit,
 * each of them even if others fail. Discards them if the transaction rolls back, entirely
 * or to an earlier savepoint.
 * <p>
 * <strong>Threads.</strong> The messages are bound to the thread of their transaction; no
 * state is shared.
 */
final class AfterCommitSender {

    private static final Logger logger = LoggerFactory.getLogger(AfterCommitSender.class);

    private static final int MAX_NAMED = 10;

    private final BatchSender sender;

    private final ApplicationEventPublisher events;

    /**
     * Creates a sender.
     * @param sender sends messages independently of each other
     * @param events publishes failures
     */
    AfterCommitSender(BatchSender sender, ApplicationEventPublisher events) {
        this.sender = sender;
        this.events = events;
    }

    /**
     * Returns whether there is a transaction that has not committed yet.
     */
    boolean hasCommitAhead() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return false;
        }
        HeldMessages held = bound();
        return held == null || held.phase != Phase.COMMITTED;
    }

    /** Adds a message to be sent after the commit. */
    void add(PreparedMessage message) {
        HeldMessages held = bound();
        if (held == null) {
            held = new HeldMessages();
            TransactionSynchronizationManager.registerSynchronization(held);
            TransactionSynchronizationManager.bindResource(this, held);
        }
        held.messages.add(message);
    }

    /** Returns how many messages wait for the commit of this thread's transaction. */
    int waiting() {
        HeldMessages held = bound();
        return (held != null) ? held.messages.size() : 0;
    }

    private @Nullable HeldMessages bound() {
        HeldMessages held = (HeldMessages) TransactionSynchronizationManager.getResource(this);
        if (held != null && held.phase == Phase.COMPLETED) {
            // Left over from a transaction that another thread completed.
            TransactionSynchronizationManager.unbindResource(this);
            return null;
        }
        return held;
    }

    private void send(List<PreparedMessage> messages) {
        // These sends cannot be repeated by the caller, so an interrupt before or during
        // them does not stop them, nor the listeners of a failure.
        boolean interrupted = Thread.interrupted();
        try {
            this.sender.send(messages);
        }
        catch (BatchSendException ex) {
            interrupted |= Thread.interrupted();
            report(ex);
        }
        finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void report(BatchSendException failure) {
        List<DelayedMessage> messages = Stream.concat(failure.notStored().stream(), failure.unknown().stream())
            .toList();
        logger.error("Messages were to be sent after a commit, which stays. {}; affected: {}", failure.getMessage(),
                names(messages), failure);
        try {
            this.events.publishEvent(new AfterCommitSendFailedEvent(messages, failure));
        }
        catch (RuntimeException ex) {
            logger.error("A listener of AfterCommitSendFailedEvent failed", ex);
        }
    }

    private static String names(List<DelayedMessage> messages) {
        String names = messages.stream()
            .limit(MAX_NAMED)
            .map((message) -> "'%s' of queue '%s'".formatted(message.id().orElse(""), message.queue()))
            .collect(Collectors.joining(", "));
        return (messages.size() > MAX_NAMED) ? names + " and %d more".formatted(messages.size() - MAX_NAMED) : names;
    }

    /** Lists the phases of the transaction of an held. */
    private enum Phase {

        OPEN, COMMITTED, COMPLETED

    }

    /** Holds the messages of one transaction. */
    private final class HeldMessages implements TransactionSynchronization {

        private final List<PreparedMessage> messages = new ArrayList<>();

        /** The number of messages that preceded each savepoint. */
        private final Map<Object, Integer> savepoints = new HashMap<>();

        private Phase phase = Phase.OPEN;

        @Override
        public void suspend() {
            TransactionSynchronizationManager.unbindResourceIfPossible(AfterCommitSender.this);
        }

        @Override
        public void resume() {
            TransactionSynchronizationManager.bindResource(AfterCommitSender.this, this);
        }

        @Override
        public void savepoint(Object savepoint) {
            this.savepoints.put(savepoint, this.messages.size());
        }

        @Override
        public void savepointRollback(Object savepoint) {
            // An unknown savepoint is older than this held and all of its messages.
            int kept = this.savepoints.getOrDefault(savepoint, 0);
            this.messages.subList(Math.min(kept, this.messages.size()), this.messages.size()).clear();
        }

        @Override
        public void afterCommit() {
            this.phase = Phase.COMMITTED;
            sendAll();
        }

        /**
         * Sends the messages that {@code afterCommit} has not sent. That is not called if
         * another synchronization threw before, or if the first message of the
         * transaction was added in such a callback.
         */
        @Override
        public void afterCompletion(int status) {
            this.phase = Phase.COMPLETED;
            TransactionSynchronizationManager.unbindResourceIfPossible(AfterCommitSender.this);
            if (status == STATUS_COMMITTED) {
                sendAll();
            }
            else if (status == STATUS_UNKNOWN && !this.messages.isEmpty()) {
                logger.warn("It is not known whether a transaction committed; not sent after it: {}",
                        names(this.messages.stream().map(PreparedMessage::identified).toList()));
            }
            this.messages.clear();
        }

        private void sendAll() {
            List<PreparedMessage> unsent = List.copyOf(this.messages);
            this.messages.clear();
            if (!unsent.isEmpty()) {
                send(unsent);
            }
        }

    }

}
