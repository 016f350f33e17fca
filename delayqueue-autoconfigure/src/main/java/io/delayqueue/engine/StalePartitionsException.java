package io.delayqueue.engine;

/**
 * A partition refused a call, as its caller goes by a version of {@link Partitions} that
 * is no longer true. Only a cause: what fails is the call, and it changed nothing.
 */
public final class StalePartitionsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StalePartitionsException(String message) {
        // Told to no one but the code that calls again, so nobody reads its stack.
        super(message, null, false, false);
    }

    /** Whether this is why a call failed. */
    static boolean isCauseOf(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StalePartitionsException) {
                return true;
            }
        }
        return false;
    }

}
