package io.delayqueue;

/**
 * Defines the names of the message headers that the library adds. A handler reads them
 * with {@link org.springframework.messaging.handler.annotation.Header}; a sender cannot
 * set them.
 *
 * @see DelayedListener
 */
public final class DelayQueueHeaders {

    /** Prefix of all these names. */
    public static final String PREFIX = "delayqueue_";

    /** The queue, a {@code String}. */
    public static final String QUEUE = PREFIX + "queue";

    /** The id of the message, a {@code String}. */
    public static final String ID = PREFIX + "id";

    /** The number of the attempt, an {@code Integer} from 1. */
    public static final String ATTEMPT = PREFIX + "attempt";

    /** The time at which the attempt was due, an {@link java.time.Instant}. */
    public static final String DUE_AT = PREFIX + "dueAt";

    private DelayQueueHeaders() {
    }

}
