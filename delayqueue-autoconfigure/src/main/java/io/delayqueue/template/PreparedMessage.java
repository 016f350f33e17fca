package io.delayqueue.template;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.StoreFailures;

/**
 * Holds a message that was checked and written, so that only the store can reject it.
 *
 * @param message the message as passed by the sender
 * @param written the message as it will be stored
 */
record PreparedMessage(DelayedMessage message, NewMessage written) {

    QueueName queue() {
        return this.message.queue();
    }

    String id() {
        return this.written.id();
    }

    int size() {
        return this.written.envelope().length;
    }

    /**
     * Returns the message with the id that it will be stored under, so that sending it
     * again is safe.
     */
    DelayedMessage identified() {
        return this.message.id().isPresent() ? this.message : this.message.toBuilder().id(id()).build();
    }

    SendResult deferred() {
        return new SendResult(queue().value(), id(), null, SendOutcome.DEFERRED);
    }

    /**
     * Returns the failure, with the id of the message added if it may be stored, so that
     * the caller can check.
     */
    RuntimeException named(RuntimeException failure) {
        String message = "%s. The message is '%s' of queue '%s'".formatted(failure.getMessage(), id(), queue());
        if (failure instanceof StoreUnavailableException unavailable) {
            String stored = (unavailable.effect() != Effect.NONE) ? id() : null;
            return new StoreUnavailableException(message, unavailable.effect(), stored, StoreFailures.beneath(failure));
        }
        if (failure instanceof StoreRefusedException refused && refused.effect() != Effect.NONE) {
            return new StoreRefusedException(message, refused.effect(), id(), StoreFailures.beneath(failure));
        }
        return (failure instanceof NotReplicatedException)
                ? new NotReplicatedException(message, id(), StoreFailures.beneath(failure)) : failure;
    }

}
