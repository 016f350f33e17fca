package io.delayqueue.store.envelope;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

import io.delayqueue.PayloadConversionException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.PropertyBindingException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes messages in their stored form and reads them back:
 * {@code {"headers":{"name":"value"},"payload":...}}, in UTF-8, without headers if there
 * are none. A future version that this one cannot read would be marked with
 * {@code "v":2}; version 1 has no mark, to save space in every message. Unknown fields
 * are skipped, so that a later version may add some. The stored form names no class: only
 * the reader decides the type of a payload.
 * <p>
 * Its exception messages contain locations, never content. Thread-safe.
 */
public class EnvelopeCodec {

    private static final int VERSION = 1;

    /** Maximum number of steps of a path in a message. */
    private static final int MAX_STEPS = 10;

    /** Replaces a step that is content. */
    private static final String CONTENT = "*";

    private final JsonMapper mapper;

    /** Writes payloads; the message is flushed as a whole. */
    private final ObjectWriter writer;

    /**
     * Creates a codec.
     * @param mapper writes and reads payloads; its support for class names in JSON is
     * disabled, because any client that can write to the store could choose the class
     */
    public EnvelopeCodec(JsonMapper mapper) {
        this.mapper = PolymorphicTypesBlocker.in(mapper);
        this.writer = this.mapper.writer().without(SerializationFeature.FLUSH_AFTER_WRITE_VALUE);
    }

    /**
     * Writes a message.
     * @throws PayloadConversionException if the payload cannot be written
     */
    public byte[] write(Object payload, Map<String, String> headers) {
        Bytes bytes = new Bytes();
        try (JsonGenerator json = this.writer.createGenerator(bytes)) {
            json.writeStartObject();
            if (!headers.isEmpty()) {
                json.writeObjectPropertyStart("headers");
                headers.forEach(json::writeStringProperty);
                json.writeEndObject();
            }
            json.writeName("payload");
            int fields = json.streamWriteContext().getEntryCount();
            this.writer.writeValue(json, payload);
            boolean written = json.streamWriteContext().getEntryCount() > fields;
            json.writeEndObject();
            json.flush();
            byte[] envelope = bytes.toByteArray();
            if (!written || endsInNull(envelope)) {
                throw new PayloadConversionException("it turns into null", null);
            }
            return envelope;
        }
        catch (RuntimeException ex) {
            // Not only Jackson's exceptions: a serializer of the application may throw
            // any.
            Throwable cause = causeOf(ex);
            String why = (cause instanceof PayloadConversionException refused) ? refused.getMessage()
                    : describe(ex) + reason(ex);
            throw new PayloadConversionException(
                    "Payload of %s cannot be written as JSON: %s".formatted(payload.getClass().getName(), why), cause);
        }
    }

    /**
     * Returns whether the payload, which comes last, is {@code null}, which cannot be
     * read. No other JSON value ends with an l.
     */
    private static boolean endsInNull(byte[] envelope) {
        int last = envelope.length - 2;
        while (Character.isWhitespace(envelope[last])) {
            last--;
        }
        return envelope[last] == 'l';
    }

    /**
     * Reads a message without converting its payload.
     * @throws PayloadConversionException if these bytes are not a message of a known
     * version
     */
    public Envelope read(byte[] envelope) {
        try (JsonParser json = this.mapper.createParser(envelope)) {
            return read(envelope, json);
        }
        catch (JacksonException ex) {
            throw new PayloadConversionException("The stored message is not readable: " + describe(ex), null);
        }
    }

    private static Envelope read(byte[] envelope, JsonParser json) {
        Map<String, String> headers = new LinkedHashMap<>();
        byte[] payload = null;
        boolean known = true;
        expect(json.nextToken() == JsonToken.START_OBJECT, "it is no JSON object");
        JsonToken token = json.nextToken();
        while (token == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            json.nextToken();
            if (name.equals("payload")) {
                int start = (int) json.currentTokenLocation().getByteOffset();
                // Jackson also reads other encodings, but without the offset of a value.
                expect(start >= 0, "it is not in UTF-8");
                json.skipChildren();
                token = json.nextToken();
                payload = slice(envelope, start, (int) json.currentTokenLocation().getByteOffset());
                continue;
            }
            if (name.equals("v")) {
                known = json.currentToken() == JsonToken.VALUE_NUMBER_INT && json.getIntValue() == VERSION;
            }
            else if (name.equals("headers")) {
                readHeaders(json, headers);
            }
            else {
                json.skipChildren();
            }
            token = json.nextToken();
        }
        expect(token == JsonToken.END_OBJECT && json.nextToken() == null, "it has no proper end");
        expect(known, "its version is not " + VERSION);
        if (payload == null) {
            throw new PayloadConversionException("The stored message is not readable: it has no payload", null);
        }
        return new Envelope(payload, headers);
    }

    private static void readHeaders(JsonParser json, Map<String, String> headers) {
        expect(json.currentToken() == JsonToken.START_OBJECT, "its headers are no JSON object");
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            expect(json.nextToken() == JsonToken.VALUE_STRING, "a header is no text");
            headers.put(name, json.getString());
        }
    }

    /**
     * Returns the value from {@code start} up to the token at {@code end}, without a
     * comma.
     */
    private static byte[] slice(byte[] envelope, int start, int end) {
        int last = end;
        while (last > start && (envelope[last - 1] == ',' || Character.isWhitespace(envelope[last - 1]))) {
            last--;
        }
        return Arrays.copyOfRange(envelope, start, last);
    }

    private static void expect(boolean met, String otherwise) {
        if (!met) {
            throw new PayloadConversionException("The stored message is not readable: " + otherwise, null);
        }
    }

    /**
     * Reads a payload as a type, generic ones included.
     * @throws PayloadConversionException if it cannot be read as {@code type}
     */
    public Object readPayload(byte[] payload, Type type) {
        JavaType javaType = this.mapper.getTypeFactory().constructType(type);
        try {
            Object value = this.mapper.readValue(payload, javaType);
            if (value == null) {
                throw new PayloadConversionException("The payload is null", null);
            }
            return value;
        }
        catch (PayloadConversionException ex) {
            throw ex;
        }
        catch (RuntimeException ex) {
            throw new PayloadConversionException(
                    "The payload cannot be read as %s: %s".formatted(javaType.toCanonical(), describe(ex)), null);
        }
    }

    /** Returns a reader for payloads of a type, generic ones included. */
    public PayloadReader reader(Type type) {
        return new PayloadReader(this, this.mapper, this.mapper.getTypeFactory().constructType(type));
    }

    /** Returns the payload as text. */
    public static String text(Envelope envelope) {
        return new String(envelope.payload(), StandardCharsets.UTF_8);
    }

    /**
     * Describes the failure and its location. The message of the exception may quote the
     * payload, so it is neither repeated nor kept as a cause when reading.
     */
    private static String describe(RuntimeException ex) {
        if (!(ex instanceof JacksonException failure)) {
            return ex.getClass().getSimpleName();
        }
        String path = failure.getPath()
            .stream()
            .limit(MAX_STEPS)
            .map((step) -> describe(step, failure))
            .collect(Collectors.joining("->"));
        TokenStreamLocation place = failure.getLocation();
        String location = (place != null && place.getLineNr() >= 0)
                ? " at line %d, column %d".formatted(place.getLineNr(), place.getColumnNr()) : "";
        return failure.getClass().getSimpleName() + (path.isEmpty() ? "" : " in " + path) + location;
    }

    /**
     * Returns Jackson's reason why a type cannot be written; empty if a value may be the
     * reason.
     */
    private static String reason(RuntimeException ex) {
        return (ex instanceof JacksonException failure && concernsType(failure)) ? ": " + failure.getOriginalMessage()
                : "";
    }

    /**
     * Returns whether the exception is about a type or a limit, and so quotes no value.
     */
    private static boolean concernsType(JacksonException failure) {
        return failure instanceof InvalidDefinitionException || failure instanceof StreamConstraintsException;
    }

    /**
     * Returns the exception of application code, or that of Jackson if it quotes no
     * content. Map keys are content, and part of the path in Jackson's exceptions.
     */
    private static @Nullable Throwable causeOf(RuntimeException ex) {
        Throwable cause = ex;
        while (cause instanceof JacksonException) {
            cause = cause.getCause();
        }
        boolean plain = ex instanceof JacksonException failure && concernsType(failure)
                && failure.getPath().stream().noneMatch((step) -> describe(step, failure).equals(CONTENT));
        return (cause == null && plain) ? ex : cause;
    }

    /**
     * Describes a step of the path to the failure. Map keys and unknown property names
     * are content.
     */
    private static String describe(JacksonException.Reference step, JacksonException failure) {
        if (step.getPropertyName() == null) {
            return "[" + step.getIndex() + "]";
        }
        Object from = step.from();
        Class<?> owner = (from instanceof Class<?> type) ? type : (from != null) ? from.getClass() : Map.class;
        boolean content = Map.class.isAssignableFrom(owner) || JsonNode.class.isAssignableFrom(owner)
                || failure instanceof PropertyBindingException;
        return content ? CONTENT : step.getPropertyName();
    }

    /**
     * Collects the bytes of a message. The generator writes a message of a few kilobytes
     * at once, and its bytes are not copied again.
     */
    private static final class Bytes extends ByteArrayOutputStream {

        Bytes() {
            super(0);
        }

        @Override
        public byte[] toByteArray() {
            return (this.count == this.buf.length) ? this.buf : super.toByteArray();
        }

    }

}
