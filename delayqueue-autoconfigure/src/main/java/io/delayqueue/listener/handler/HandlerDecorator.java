package io.delayqueue.listener.handler;

/**
 * Wraps the handlers of listeners. Applied once to each, around the observation of its
 * calls.
 */
@FunctionalInterface
public interface HandlerDecorator {

    /** Leaves handlers as they are. */
    HandlerDecorator NONE = (handler, listenerId) -> handler;

    /**
     * Returns the handler to call instead.
     * @param listenerId the id of the listener that it belongs to
     */
    MessageHandler decorate(MessageHandler handler, String listenerId);

}
