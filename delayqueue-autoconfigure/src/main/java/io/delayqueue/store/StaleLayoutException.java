package io.delayqueue.store;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a partition rejected a call with an outdated version of the
 * {@link PartitionLayout}. Used only as the cause of the exception of the call, which
 * changed nothing.
 */
public final class StaleLayoutException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable PartitionLayout recorded;

    /**
     * Creates the cause.
     * @param recorded the layout recorded in the partition; {@code null} if it cannot be
     * read
     */
    public StaleLayoutException(String message, @Nullable PartitionLayout recorded) {
        // Only the code that repeats the call handles it, so it needs no stack trace.
        super(message, null, false, false);
        this.recorded = recorded;
    }

    /** Returns whether a call failed for this reason. */
    public static boolean isCauseOf(Throwable failure) {
        return in(failure) != null;
    }

    /** Returns the layout recorded in the partition that rejected the call, if known. */
    public static Optional<PartitionLayout> recordedIn(Throwable failure) {
        StaleLayoutException stale = in(failure);
        return (stale != null) ? Optional.ofNullable(stale.recorded) : Optional.empty();
    }

    private static @Nullable StaleLayoutException in(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StaleLayoutException stale) {
                return stale;
            }
        }
        return null;
    }

}
