package io.delayqueue.engine;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * A partition refused a call, as its caller goes by a version of {@link Partitions} that
 * is no longer true. Only a cause: what fails is the call, and this one changed nothing.
 */
public final class StalePartitionsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable Partitions recorded;

    /**
     * Makes a cause.
     * @param recorded what the partition has recorded; {@code null} if that cannot be
     * read
     */
    public StalePartitionsException(String message, @Nullable Partitions recorded) {
        // Told to no one but the code that calls again, so nobody reads its stack.
        super(message, null, false, false);
        this.recorded = recorded;
    }

    /** Whether this is why a call failed. */
    static boolean isCauseOf(Throwable failure) {
        return in(failure) != null;
    }

    /** What the partition that refused the call has recorded, if that is known. */
    public static Optional<Partitions> recordedIn(Throwable failure) {
        StalePartitionsException stale = in(failure);
        return (stale != null) ? Optional.ofNullable(stale.recorded) : Optional.empty();
    }

    private static @Nullable StalePartitionsException in(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StalePartitionsException stale) {
                return stale;
            }
        }
        return null;
    }

}
