package io.delayqueue.engine;

/**
 * The ports of one store.
 *
 * @param messages changes messages
 * @param inspector looks at them
 * @param wakeUps tells when to look
 * @param partitions how its queues are spread
 * @param events told of what happens to messages
 */
public record StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps, PartitionTable partitions,
        MessageEvents events) {

    /** Tells nobody. */
    public StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps, PartitionTable partitions) {
        this(messages, inspector, wakeUps, partitions, MessageEvents.NONE);
    }

}
