package io.delayqueue;

/**
 * Reports a message whose stored form exceeds {@code delayqueue.max-payload-size}.
 *
 * @see DelayQueueException
 */
public final class PayloadTooLargeException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    public PayloadTooLargeException(String message) {
        super(message);
    }

}
