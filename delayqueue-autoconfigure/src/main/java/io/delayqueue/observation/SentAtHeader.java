package io.delayqueue.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the header with the send time of a message, for its trace. The
 * sender's clock sets it, as no other is known then, and it only distinguishes a trace of
 * seconds from one of days.
 */
final class SentAtHeader {

    static final String HEADER = "sent-at";

    private SentAtHeader() {
    }

    static String now() {
        return Instant.now().toString();
    }

    /** Returns {@code null} if the header is missing or not in this format. */
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
