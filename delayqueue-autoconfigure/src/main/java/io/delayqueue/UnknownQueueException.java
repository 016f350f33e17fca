package io.delayqueue;

/**
 * A message was sent to a queue that the application does not know, and the application
 * refuses those ({@code delayqueue.send.unknown-queues=reject}). Nothing was sent.
 */
public final class UnknownQueueException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String queue;

    /**
     * Creates an exception.
     * @param queue the queue
     * @param message says why it is not known
     */
    public UnknownQueueException(QueueName queue, String message) {
        super(message);
        this.queue = queue.value();
    }

    /** The queue that is not known. */
    public String queue() {
        return this.queue;
    }

}
