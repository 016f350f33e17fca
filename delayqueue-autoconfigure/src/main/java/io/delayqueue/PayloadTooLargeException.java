package io.delayqueue;

/**
 * A message is larger, as it would be stored, than {@code delayqueue.max-payload-size}.
 */
public final class PayloadTooLargeException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    public PayloadTooLargeException(String message) {
        super(message);
    }

}
