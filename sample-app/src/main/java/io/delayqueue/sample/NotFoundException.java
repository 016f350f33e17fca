package io.delayqueue.sample;

/** Thrown if a requested order or dead letter does not exist. */
final class NotFoundException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotFoundException(String message) {
        super(message);
    }

}
