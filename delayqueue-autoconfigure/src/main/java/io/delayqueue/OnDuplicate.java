package io.delayqueue;

/**
 * Decides how a send treats an id that the queue already holds. The queue holds an id
 * from the send until the message is done, both while it waits and while it is being
 * handled.
 *
 * @see DelayedMessage
 */
public enum OnDuplicate {

    /**
     * Leaves the existing message unchanged, so that a send can be repeated safely: the
     * outcome is {@link SendOutcome#KEPT} while the queue holds the id. The only
     * exception is a message that was cancelled while being handled, which will not be
     * retried: the new message follows it ({@link SendOutcome#AFTER_CURRENT}).
     */
    KEEP,

    /**
     * Leaves a waiting message unchanged, and follows one that is being handled
     * ({@link SendOutcome#AFTER_CURRENT}); of several successors the first is kept. Use
     * this mode in a handler that sends its own id again, for example for recurring work.
     */
    AFTER_CURRENT,

    /**
     * Replaces payload, headers, due time, priority and time to live of a waiting
     * message. Follows one that is being handled; of several successors the last is kept.
     */
    REPLACE

}
