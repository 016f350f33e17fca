package io.delayqueue;

/**
 * Lists the states of a message that the queue holds. Being due is a condition, not a
 * state.
 *
 * @see StoredMessage
 * @see DelayQueueOperations#find
 */
public enum MessageState {

    /** The message waits for its due time, or for a free handler. */
    SCHEDULED,

    /** The message was claimed by a consumer that has not settled it yet. */
    LEASED

}
