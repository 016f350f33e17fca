package io.delayqueue.intake;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message of a broker that may be scheduled.
 *
 * @param source where it was read, for the log, such as a partition and an offset
 * @param id identifies the message if no header does; {@code null} to generate an id
 * @param key its key; {@code null} for none
 * @param headers its headers with values that are texts
 * @param payload its content
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record IntakeMessage(String source, @Nullable String id, @Nullable String key, Map<String, String> headers,
        byte[] payload) {

    IntakeMessage {
        headers = Map.copyOf(headers);
    }

    /** Omits the content, which may be private. */
    @Override
    public String toString() {
        return this.source;
    }

}
