package io.delayqueue;

import org.jspecify.annotations.Nullable;

/** The root of what this library throws, besides wrong arguments. */
public abstract class DelayQueueException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Effect effect;

    DelayQueueException(String message, Effect effect, @Nullable Throwable cause) {
        super(message, cause);
        this.effect = effect;
    }

    /** Whether the failed operation may have taken effect nevertheless. */
    public final Effect effect() {
        return this.effect;
    }

    /** What is known of an operation that failed. */
    public enum Effect {

        /** It changed nothing. */
        NONE,

        /** It may or may not have taken effect. */
        UNKNOWN,

        /**
         * It has taken effect, but fewer replicas than asked for are known to have it: a
         * failover may undo it.
         */
        STORED

    }

}
