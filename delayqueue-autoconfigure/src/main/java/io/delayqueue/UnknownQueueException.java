package io.delayqueue;

/**
 * Reports a send to a queue that the application does not know, where
 * {@code delayqueue.send.unknown-queues=reject} is set. Nothing was sent.
 *
 * @see DelayQueueException
 */
public final class UnknownQueueException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String queue;

    /**
     * Creates an exception.
     * @param queue the queue
     * @param message why it is not known
     */
    public UnknownQueueException(QueueName queue, String message) {
        super(message);
        this.queue = queue.value();
    }

    /** Returns the unknown queue. */
    public String queue() {
        return this.queue;
    }

}
