package io.delayqueue.store.envelope;

import java.util.Map;

/**
 * Holds the content of a stored message.
 *
 * @param payload the payload as JSON, in UTF-8
 * @param headers headers set by the sender
 */
public record Envelope(byte[] payload, Map<String, String> headers) {

    public Envelope {
        headers = Map.copyOf(headers);
    }

    /** Omits the content, which may be private. */
    @Override
    public String toString() {
        return "Envelope[%d bytes, %d headers]".formatted(this.payload.length, this.headers.size());
    }

}
