package io.delayqueue;

/** What a call of {@link DelayQueueOperations#resume} has found. */
public enum ResumeResult {

    /** The queue was paused, and is not any more. */
    RESUMED,

    /** The queue was not paused; what was left of a pause that is over is removed. */
    NOT_PAUSED

}
