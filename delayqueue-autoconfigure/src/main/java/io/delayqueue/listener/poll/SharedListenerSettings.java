package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import org.jspecify.annotations.Nullable;

/**
 * Holds the settings that all listeners of the process share.
 *
 * @param shutdownTimeout how long a stop waits for running handlers, zero or more
 * @param safetyPoll longest time between two polls of a queue, even if wake-ups are lost;
 * at least 10 ms
 * @param deadLetterRetention age at which dead letters are removed; {@code null} to never
 * remove them
 * @param virtualThreads whether handlers run on virtual threads, which needs Java 21;
 * ignored for an executor of the application
 * @param execution how the application runs handlers
 * @param acknowledgementLinger how long a handled message waits for others with which it
 * shares a call; zero for not at all
 */
public record SharedListenerSettings(Duration shutdownTimeout, Duration safetyPoll,
        @Nullable Duration deadLetterRetention, boolean virtualThreads, HandlerExecution execution,
        Duration acknowledgementLinger) {

    /** Short compared with a handler, and long enough to share calls under load. */
    private static final Duration LINGER = Duration.ofMillis(5);

    /** Creates settings with the usual time that handled messages wait for others. */
    public SharedListenerSettings(Duration shutdownTimeout, Duration safetyPoll, @Nullable Duration deadLetterRetention,
            boolean virtualThreads, HandlerExecution execution) {
        this(shutdownTimeout, safetyPoll, deadLetterRetention, virtualThreads, execution, LINGER);
    }

    public SharedListenerSettings {
        ListenerSettings.require(
                !shutdownTimeout.isNegative() && shutdownTimeout.compareTo(MessageLimits.MAX_DURATION) <= 0,
                "shutdownTimeout", "zero to %d days".formatted(MessageLimits.MAX_DURATION.toDays()), shutdownTimeout);
        ListenerSettings.require(
                safetyPoll.compareTo(Duration.ofMillis(10)) >= 0
                        && safetyPoll.compareTo(MessageLimits.MAX_DURATION) <= 0,
                "safetyPoll", "at least 10ms and at most %d days".formatted(MessageLimits.MAX_DURATION.toDays()),
                safetyPoll);
        if (deadLetterRetention != null) {
            MessageLimits.requirePositive("deadLetterRetention", deadLetterRetention);
        }
    }

}
