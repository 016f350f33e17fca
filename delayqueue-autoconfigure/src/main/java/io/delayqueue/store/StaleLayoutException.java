package io.delayqueue.store;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * A partition refused a call, as its caller goes by a version of {@link PartitionLayout}
 * that is no longer true. Only a cause: what fails is the call, and this one changed
 * nothing.
 */
public final class StaleLayoutException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable PartitionLayout recorded;

    /**
     * Makes a cause.
     * @param recorded what the partition has recorded; {@code null} if that cannot be
     * read
     */
    public StaleLayoutException(String message, @Nullable PartitionLayout recorded) {
        // Told to no one but the code that calls again, so nobody reads its stack.
        super(message, null, false, false);
        this.recorded = recorded;
    }

    /** Whether this is why a call failed. */
    public static boolean isCauseOf(Throwable failure) {
        return in(failure) != null;
    }

    /** What the partition that refused the call has recorded, if that is known. */
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
