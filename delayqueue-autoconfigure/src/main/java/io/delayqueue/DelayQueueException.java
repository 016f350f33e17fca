package io.delayqueue;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Base class of the exceptions of this library, except those for invalid arguments.
 * <pre class="code">
 * try {
 *     delayQueue.send("order-timeout", new OrderTimeout(42), Duration.ofMinutes(30));
 * }
 * catch (DelayQueueException ex) {
 *     if (ex.effect() == Effect.NONE) {
 *         // not stored: send again, or report the failure
 *     }
 * }
 * </pre>
 */
public abstract class DelayQueueException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Effect effect;

    private final @Nullable String messageId;

    DelayQueueException(String message, Effect effect, @Nullable Throwable cause) {
        this(message, effect, null, cause);
    }

    DelayQueueException(String message, Effect effect, @Nullable String messageId, @Nullable Throwable cause) {
        super(message, cause);
        this.effect = effect;
        this.messageId = messageId;
    }

    /** Returns whether the failed operation may have taken effect. */
    public final Effect effect() {
        return this.effect;
    }

    /**
     * Returns the id of the message that a failed {@code send} or {@code sendAsync} has
     * stored, or may have, also if it was generated. By it the message can be found,
     * cancelled or sent again. Absent if the send has stored nothing, and for other
     * operations.
     */
    public final Optional<String> messageId() {
        return Optional.ofNullable(this.messageId);
    }

    /** Describes whether a failed operation took effect. */
    public enum Effect {

        /** It changed nothing. */
        NONE,

        /** It may or may not have taken effect. */
        UNKNOWN,

        /**
         * It took effect, but is not known to have reached as many replicas as requested:
         * a failover may undo it.
         */
        STORED

    }

}
