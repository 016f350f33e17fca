package io.delayqueue.store.routing;

import io.delayqueue.store.MessageEventListener;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.WakeUps;

/**
 * The ports of one store.
 *
 * @param messages changes messages
 * @param inspector looks at them
 * @param wakeUps tells when to look
 * @param partitions how its queues are spread
 * @param events told of what happens to messages
 * @param notes which queues are used
 */
public record DelayQueueStore(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
        PartitionLayoutCache partitions, MessageEventListener events, QueueRegistrar notes) {

    /** Tells nobody, and notes nothing. */
    public DelayQueueStore(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
            PartitionLayoutCache partitions) {
        this(messages, inspector, wakeUps, partitions, MessageEventListener.NONE);
    }

    /** Those of a store that keeps no list of queues. */
    public DelayQueueStore(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
            PartitionLayoutCache partitions, MessageEventListener events) {
        this(messages, inspector, wakeUps, partitions, events, QueueRegistrar.NONE);
    }

}
