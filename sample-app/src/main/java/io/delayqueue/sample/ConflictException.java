package io.delayqueue.sample;

/** Thrown if a request is no longer possible in the state of the order. */
final class ConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ConflictException(String message) {
        super(message);
    }

}
