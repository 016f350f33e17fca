package io.delayqueue.engine;

/**
 * The ports of one store.
 *
 * @param messages changes messages
 * @param inspector looks at them
 * @param wakeUps tells when to look
 * @param partitions how its queues are spread
 */
public record StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
        PartitionTable partitions) {
}
