package io.delayqueue.test;

/**
 * Classifies how a delivery has ended.
 *
 * @see DelayQueueTester
 */
public enum DeliveryOutcome {

    /** The handler returned, and its message is acknowledged. */
    SUCCEEDED,

    /** The handler failed, and its message is due again after the backoff. */
    RETRIED,

    /** The message became a dead letter. */
    DEAD,

    /** The message was released, and no attempt was counted. */
    RELEASED,

    /** The message was past its time to live, and its handler was not called. */
    EXPIRED

}
