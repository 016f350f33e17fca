package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import org.jspecify.annotations.Nullable;

/**
 * Holds the settings of all listeners of the process.
 *
 * @param shutdownTimeout how long a stop waits for running handlers, zero or more
 * @param safetyPoll longest time between two polls of a queue, even if wake-ups are lost;
 * at least 10 ms
 * @param deadLetterRetention age at which dead letters are removed; {@code null} to never
 * remove them
 * @param virtualThreads whether handlers run on virtual threads, which needs Java 21;
 * ignored for an executor of the application
 * @param execution how the application runs handlers
 */
public record SharedListenerSettings(Duration shutdownTimeout, Duration safetyPoll,
        @Nullable Duration deadLetterRetention, boolean virtualThreads, HandlerExecutorSettings execution) {

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
