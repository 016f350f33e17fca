package io.delayqueue.intake;

/** Reports a message that intake can never schedule. */
final class InvalidIntakeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    InvalidIntakeException(String message) {
        super(message);
    }

}
