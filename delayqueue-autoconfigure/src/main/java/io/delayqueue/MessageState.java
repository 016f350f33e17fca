package io.delayqueue;

/**
 * Where a message that the queue holds is in its life. Due is a condition, not a state.
 */
public enum MessageState {

    /** Waits for its due time, or for a free handler. */
    SCHEDULED,

    /** Handed to a worker that has not settled it yet. */
    LEASED

}
