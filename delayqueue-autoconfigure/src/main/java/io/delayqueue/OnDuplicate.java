package io.delayqueue;

/**
 * What a send does when the queue already holds a message with its id. The queue holds an
 * id from the send until the message is done: while it waits, and while it is being
 * handled.
 */
public enum OnDuplicate {

    /**
     * Leaves what is there as it is, so that a send can be repeated: the answer is
     * {@link SendOutcome#KEPT} while the queue holds the id. Only where the message is
     * being handled and was cancelled meanwhile does the new one follow it
     * ({@link SendOutcome#AFTER_CURRENT}), as nothing else would.
     */
    KEEP,

    /**
     * Leaves a message that waits as it is, and follows one that is being handled
     * ({@link SendOutcome#AFTER_CURRENT}); of several that follow the first is kept. The
     * mode for a handler that sends its own id again, such as that of recurring work.
     */
    AFTER_CURRENT,

    /**
     * Replaces payload, headers, due time, priority and time to live of a message that
     * waits. Follows one that is being handled; of several that follow the last is kept.
     */
    REPLACE

}
