package io.delayqueue.template;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.CurrentMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns once per queue of handlers that send the id of the message that they handle, and
 * are answered that it is kept: nothing follows then, which is seldom what they want.
 * Thread-safe.
 */
final class OwnIdSendCheck {

    private static final Logger logger = LoggerFactory.getLogger(OwnIdSendCheck.class);

    private final Set<QueueName> warned = ConcurrentHashMap.newKeySet();

    /**
     * Whether a message is sent by the handler of one with its id; asked by its thread.
     */
    static boolean isOwn(PreparedMessage message) {
        return message.message().onDuplicate() == OnDuplicate.KEEP && CurrentMessage.is(message.queue(), message.id());
    }

    /** Reports the answer to a send by the handler of its own id. */
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
