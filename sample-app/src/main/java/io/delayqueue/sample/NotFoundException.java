package io.delayqueue.sample;

/** What is asked for does not exist. */
final class NotFoundException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotFoundException(String message) {
        super(message);
    }

}
