package io.delayqueue;

/**
 * Names of the message headers that a handler can ask for with
 * {@link org.springframework.messaging.handler.annotation.Header}, besides those of the
 * sender. A sender cannot set them.
 */
public final class DelayQueueHeaders {

    /** What all names here begin with. */
    public static final String PREFIX = "delayqueue_";

    /** The queue, a {@code String}. */
    public static final String QUEUE = PREFIX + "queue";

    /** The id of the message, a {@code String}. */
    public static final String ID = PREFIX + "id";

    /** The number of the attempt, an {@code Integer} from 1. */
    public static final String ATTEMPT = PREFIX + "attempt";

    /** When the attempt was due, an {@link java.time.Instant}. */
    public static final String DUE_AT = PREFIX + "dueAt";

    private DelayQueueHeaders() {
    }

}
