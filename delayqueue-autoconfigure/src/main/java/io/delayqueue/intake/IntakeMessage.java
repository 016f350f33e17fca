package io.delayqueue.intake;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message of a broker that may be scheduled.
 *
 * @param source where it was read, for the log, such as a partition and an offset
 * @param id identifies the message if no header does
 * @param key its key; {@code null} for none
 * @param headers its headers
 * @param payload its content
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record IntakeMessage(String source, String id, byte @Nullable [] key, IntakeHeaders headers, byte[] payload) {

    /** Omits the content, which may be private. */
    @Override
    public String toString() {
        return this.source;
    }

}
