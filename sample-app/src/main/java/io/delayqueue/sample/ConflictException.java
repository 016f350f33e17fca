package io.delayqueue.sample;

/** What is asked for is not possible any more. */
final class ConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ConflictException(String message) {
        super(message);
    }

}
