package io.delayqueue.migrate.engine;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

import io.delayqueue.migrate.PayloadDecoder;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.RawValue;

/** Creates payload decoders by their names. */
public final class PayloadDecoders {

    private static final String NOT_TEXT = "it is not UTF-8, but bytes such as those of Kryo or of serialized Java "
            + "objects, which are not deserialized: name a decoder by --payload";

    private static final String NOT_JSON = "it is not JSON: use --payload=string for text, or name a decoder by "
            + "--payload";

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private PayloadDecoders() {
    }

    /**
     * Returns a decoder.
     * @param name {@code json}, {@code string} or the name of a class
     * @throws IllegalArgumentException if there is none of that name
     */
    public static PayloadDecoder named(String name) {
        return switch (name) {
            case "json" -> (entry) -> json(entry.payload());
            case "string" -> (entry) -> text(entry.payload());
            default -> ExtensionLoader.create("--payload", name, PayloadDecoder.class, "json, string");
        };
    }

    /** Returns the JSON as it is, so that numbers keep their digits. */
    private static RawValue json(byte[] payload) {
        String text = text(payload);
        try (JsonParser parser = MAPPER.createParser(text)) {
            JsonToken first = parser.nextToken();
            if (first == null || first == JsonToken.VALUE_NULL) {
                throw new IllegalArgumentException("it is null or empty");
            }
            parser.skipChildren();
            if (parser.nextToken() != null) {
                throw new IllegalArgumentException("it has more than one JSON value");
            }
        }
        catch (JacksonException ex) {
            // The message may quote the payload.
            throw new IllegalArgumentException(NOT_JSON);
        }
        return new RawValue(text.strip());
    }

    private static String text(byte[] payload) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
        }
        catch (CharacterCodingException ex) {
            throw new IllegalArgumentException(NOT_TEXT);
        }
    }

}
