package io.delayqueue;

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

    DelayQueueException(String message, Effect effect, @Nullable Throwable cause) {
        super(message, cause);
        this.effect = effect;
    }

    /** Returns whether the failed operation may have taken effect. */
    public final Effect effect() {
        return this.effect;
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
