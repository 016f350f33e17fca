package io.delayqueue.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * When a message was sent, in a header beside the trace. By the sender's clock, as no
 * other is known then: it tells a trace of seconds from one of days, and nothing else
 * goes by it.
 */
final class SentAtHeader {

    static final String HEADER = "sent-at";

    private SentAtHeader() {
    }

    static String now() {
        return Instant.now().toString();
    }

    /** {@code null} if the header is missing or was written by somebody else. */
    static @Nullable Duration age(Map<String, String> headers, Delivery delivery) {
        String sentAt = headers.get(HEADER);
        if (sentAt == null) {
            return null;
        }
        try {
            return Duration.between(Instant.parse(sentAt), delivery.dueAt().plus(delivery.lateness()));
        }
        catch (RuntimeException ex) {
            return null;
        }
    }

}
