package io.delayqueue.listener.handler;

import java.time.Duration;

import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;

/**
 * Describes why a handler can process no message at the moment.
 *
 * @param text the consequence, with the subject, such as "Messages of queue 'orders'
 * cannot be forwarded to 'kafka:orders'"
 * @param cause the last failure, in one line
 * @param age for how long
 */
public record HandlerOutage(String text, String cause, Duration age) {

    /** Returns the consequence and the age; {@code null} if there is no outage. */
    public static @Nullable String describe(@Nullable HandlerOutage outage) {
        return (outage != null) ? "%s for %s".formatted(outage.text(), Texts.span(outage.age())) : null;
    }

}
