package io.delayqueue.listener.poll;

import java.util.Objects;

import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import io.delayqueue.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses how to settle a message after a failed attempt: asks the listener's error
 * handler, and dead-letters it if the exception is not to be retried or the maximum of
 * attempts is reached.
 * <p>
 * <strong>Threads.</strong> Runs on handler threads. Stateless.
 */
final class FailurePolicy {

    private static final Logger logger = LoggerFactory.getLogger(FailurePolicy.class);

    private final PartitionBinding binding;

    FailurePolicy(PartitionBinding binding) {
        this.binding = binding;
    }

    /** Returns the decision for a message whose handler failed, never the standard. */
    ErrorDecision ofFailure(Delivery delivery, Throwable failure) {
        ErrorDecision decision = decide(delivery, failure);
        if (decision == ErrorDecision.standard()) {
            return isFinal(failure) ? ErrorDecision.deadLetter() : limited(delivery, ErrorDecision.retry());
        }
        return limited(delivery, decision);
    }

    /**
     * Returns the decision for a message that its handler cannot read; the standard is to
     * dead-letter it.
     */
    ErrorDecision ofUnreadable(Delivery delivery, Throwable failure) {
        return limited(delivery, decide(delivery, failure));
    }

    private ErrorDecision decide(Delivery delivery, Throwable failure) {
        try {
            return Objects.requireNonNull(
                    this.binding.errorHandler().handleError(delivery, StoreFailures.unwrap(failure)),
                    "The error handler returned null");
        }
        catch (Throwable ex) {
            logger.error("The error handler of listener '{}' failed for {}, which is settled as without it",
                    this.binding.listenerId(), delivery, ex);
            return ErrorDecision.standard();
        }
        finally {
            // An interrupt that it set must not reach the next message of this thread.
            Thread.interrupted();
        }
    }

    private ErrorDecision limited(Delivery delivery, ErrorDecision decision) {
        boolean last = delivery.attempt() >= this.binding.settings().maxAttempts();
        return (last && decision instanceof ErrorDecision.Retry) ? ErrorDecision.deadLetter() : decision;
    }

    private boolean isFinal(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = StoreFailures.wrapped(cause)) {
            for (Class<? extends Throwable> type : this.binding.settings().noRetryFor()) {
                if (type.isInstance(cause)) {
                    return true;
                }
            }
        }
        return false;
    }

}
