package io.delayqueue.engine;

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
public record StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps, PartitionTable partitions,
        MessageEvents events, QueueNotes notes) {

    /** Tells nobody, and notes nothing. */
    public StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps, PartitionTable partitions) {
        this(messages, inspector, wakeUps, partitions, MessageEvents.NONE);
    }

    /** Those of a store that keeps no list of queues. */
    public StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps, PartitionTable partitions,
            MessageEvents events) {
        this(messages, inspector, wakeUps, partitions, events, QueueNotes.NONE);
    }

}
