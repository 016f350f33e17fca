package io.delayqueue.admin;

/**
 * Holds how many messages of a queue are retried: their handler has failed, and they wait
 * or are in flight again.
 *
 * @param queue the queue
 * @param count the number of messages
 * @param complete {@code false} if there may be more, as only some were examined
 * @see DelayQueueInspector#retrying
 */
public record RetryingCount(String queue, long count, boolean complete) {
}
