package io.delayqueue.template;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.CurrentMessageHolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns once per queue if a handler sends the id of the message that it handles and the
 * existing message is kept. The new message is then discarded, which is rarely intended.
 * Thread-safe.
 */
final class HandledIdSendWarning {

    private static final Logger logger = LoggerFactory.getLogger(HandledIdSendWarning.class);

    private final Set<QueueName> warned = ConcurrentHashMap.newKeySet();

    /**
     * Returns whether a message is sent by the handler of a message with the same id;
     * must be called on the handler's thread.
     */
    static boolean isOwn(PreparedMessage message) {
        return message.message().onDuplicate() == OnDuplicate.KEEP
                && CurrentMessageHolder.is(message.queue(), message.id());
    }

    /** Checks the result of a send of a handler's own id. */
    void answered(PreparedMessage message, SendResult result) {
        if (result.outcome() == SendOutcome.KEPT && this.warned.add(message.queue())) {
            logger.warn(
                    "A handler of queue '{}' sent the id of its own message '{}' and was answered KEPT: the queue holds "
                            + "the id until the handler has returned, so nothing follows. Send with "
                            + "OnDuplicate.AFTER_CURRENT what is to follow. Not reported again for this queue",
                    message.queue(), message.id());
        }
    }

}
