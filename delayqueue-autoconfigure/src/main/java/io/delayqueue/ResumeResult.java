package io.delayqueue;

/**
 * Lists the possible results of {@link DelayQueueOperations#resume}.
 *
 * @see DelayQueueOperations#resume
 */
public enum ResumeResult {

    /** The queue was paused and has been resumed. */
    RESUMED,

    /** The queue was not paused. The remains of an earlier pause are removed. */
    NOT_PAUSED

}
