package io.delayqueue.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.journal.HandlerTransactionExecutor;
import io.delayqueue.journal.HandlerTransactionException;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalMode;
import io.delayqueue.listener.handler.HandlerOutcomeUnknownException;
import io.delayqueue.listener.handler.HandlerTransactions;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.store.ClaimedMessage;

import org.springframework.beans.BeansException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.function.SingletonSupplier;

/** Runs transactional handlers with the journal, and checks their listeners. */
final class JournalHandlerTransactions implements HandlerTransactions {

    /** How long a message waits that another transaction has recorded. */
    private static final Duration HELD_DELAY = Duration.ofSeconds(10);

    private static final Set<Propagation> OTHER_TRANSACTIONS = Set.of(Propagation.REQUIRES_NEW,
            Propagation.NOT_SUPPORTED, Propagation.NEVER);

    private final JournalFactory factory;

    private final DelayQueueProperties properties;

    private final Supplier<HandlerTransactionExecutor> handled;

    /**
     * Creates transactions.
     * @param transactions provides the transaction manager, which is needed only if there
     * is a transactional listener
     */
    JournalHandlerTransactions(JournalFactory factory, DelayQueueProperties properties,
            Supplier<PlatformTransactionManager> transactions) {
        this.factory = factory;
        this.properties = properties;
        this.handled = SingletonSupplier.of(() -> factory.handlerTransactions(transactions.get()));
    }

    @Override
    public void require(Method method, Class<?> targetClass) {
        // The proxy of a class also applies the annotation to methods that are not
        // public.
        AnnotationTransactionAttributeSource source = new AnnotationTransactionAttributeSource(false);
        TransactionAttribute own = source.getTransactionAttribute(method, targetClass);
        for (Propagation other : OTHER_TRANSACTIONS) {
            if (own != null && own.getPropagationBehavior() == other.value()) {
                throw new IllegalArgumentException(("transactional must be false for a method with propagation %s, as "
                        + "its writes are not in the transaction that records that the message was handled")
                    .formatted(other));
            }
        }
    }

    @Override
    public void require(List<QueueName> queues) {
        for (QueueName queue : queues) {
            if (this.properties.journalMode(queue) != JournalMode.LEDGER) {
                throw new IllegalArgumentException(("transactional must be false, as queue '%s' does not have "
                        + "delayqueue.journal.mode 'ledger': the journal records which messages were handled")
                    .formatted(queue));
            }
        }
        try {
            this.handled.get().requireSuitableTransactions();
        }
        catch (BeansException | IllegalArgumentException ex) {
            throw new IllegalArgumentException(
                    "transactional must be false, or the transaction manager suitable: " + ex.getMessage(), ex);
        }
        queues.forEach(this.factory::include);
    }

    @Override
    public void execute(ClaimedMessage message, Handler handler) throws Throwable {
        try {
            this.handled.get()
                .execute(message.lease().queue(), message.lease().id(), message.revision(), handler::call);
        }
        catch (HandlerTransactionException ex) {
            throw switch (ex.reason()) {
                case UNAVAILABLE -> new HandlerUnavailableException(String.valueOf(ex.getMessage()), ex);
                case HELD -> new HandlerUnavailableException(ex.getMessage(), ex.getCause(), HELD_DELAY);
                case LOST -> new HandlerOutcomeUnknownException(ex.getMessage(), ex.getCause());
            };
        }
    }

}
