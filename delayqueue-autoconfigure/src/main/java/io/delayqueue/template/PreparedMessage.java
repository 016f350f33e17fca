package io.delayqueue.template;

import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.UncertainEffects;

/**
 * A message that was checked and written: nothing but the store can refuse it.
 *
 * @param message as the sender gave it
 * @param written as it will be stored
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
     * The message with the id it will be stored under, so that sending it again is safe.
     */
    DelayedMessage identified() {
        return this.message.id().isPresent() ? this.message : this.message.toBuilder().id(id()).build();
    }

    SendResult deferred() {
        return new SendResult(queue().value(), id(), null, SendOutcome.DEFERRED);
    }

    /**
     * The same failure, which names the message so that its fate can be looked up, if it
     * may have one.
     */
    RuntimeException named(RuntimeException failure) {
        String message = "%s. The message is '%s' of queue '%s'".formatted(failure.getMessage(), id(), queue());
        if (failure instanceof StoreUnavailableException unavailable) {
            return new StoreUnavailableException(message, unavailable.effect(), UncertainEffects.beneath(failure));
        }
        return (failure instanceof NotReplicatedException)
                ? new NotReplicatedException(message, UncertainEffects.beneath(failure)) : failure;
    }

}
