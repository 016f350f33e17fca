package io.delayqueue.store.envelope;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads messages whose payloads all have one type. Reads the payload of a message without
 * headers directly, whereas {@link EnvelopeCodec} first reads the envelope. If that
 * fails, the codec reads the message again and reports the error. Thread-safe.
 */
public final class PayloadReader {

    private static final byte[] START = "{\"payload\":".getBytes(StandardCharsets.US_ASCII);

    private final EnvelopeCodec codec;

    private final JavaType type;

    private final ObjectReader reader;

    PayloadReader(EnvelopeCodec codec, JsonMapper mapper, JavaType type) {
        this.codec = codec;
        this.type = type;
        this.reader = mapper.readerFor(type).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    }

    /**
     * Reads a message.
     * @throws io.delayqueue.PayloadConversionException under the same conditions as the
     * codec
     */
    public Content read(byte[] envelope) {
        Object payload = readPlain(envelope);
        if (payload != null) {
            return new Content(payload, Map.of());
        }
        Envelope read = this.codec.read(envelope);
        return new Content(this.codec.readPayload(read.payload(), this.type), read.headers());
    }

    /**
     * Returns the payload if the envelope contains nothing else; {@code null} if it
     * cannot be read directly.
     */
    private @Nullable Object readPlain(byte[] envelope) {
        int end = envelope.length - 1;
        if (end <= START.length || envelope[end] != '}'
                || !Arrays.equals(envelope, 0, START.length, START, 0, START.length)) {
            return null;
        }
        if (envelope[START.length] <= 0 || envelope[START.length + 1] == 0) {
            // No value in UTF-8 starts like this; Jackson would assume another encoding.
            return null;
        }
        try {
            return this.reader.readValue(envelope, START.length, end - START.length);
        }
        catch (RuntimeException ex) {
            // The codec reports the error, or finds more fields.
            return null;
        }
    }

    /**
     * Holds the content of a message.
     *
     * @param payload the payload
     * @param headers headers set by the sender
     */
    public record Content(Object payload, Map<String, String> headers) {

        /** Omits the content, which may be private. */
        @Override
        public String toString() {
            return "Content[%s, %d headers]".formatted(this.payload.getClass().getName(), this.headers.size());
        }

    }

}
