package io.delayqueue.store.envelope;

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
import tools.jackson.core.util.ByteArrayBuilder;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.PropertyBindingException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes messages in their stored form and reads them back:
 * {@code {"headers":{"name":"value"},"payload":...}}, in UTF-8, with the headers left out
 * if there are none. A later version that this one could not read would say so by
 * {@code "v":2}; none is version 1, as every byte is kept for each message that waits.
 * Fields it does not know are skipped, so that a later version may add some. The stored
 * form names no class: what a payload is read as is the reader's choice alone.
 * <p>
 * Messages of its exceptions name places, never content. Thread-safe.
 */
public class EnvelopeCodec {

    private static final int VERSION = 1;

    /** Most steps of a path that are told. */
    private static final int MAX_STEPS = 10;

    /** In place of a step that is content. */
    private static final String CONTENT = "*";

    private final JsonMapper mapper;

    /**
     * Makes a codec.
     * @param mapper writes and reads payloads; what it does by class names in JSON is
     * left out, as whoever can write to the store would choose the class
     */
    public EnvelopeCodec(JsonMapper mapper) {
        this.mapper = PolymorphicTypesBlocker.in(mapper);
    }

    /**
     * Writes a message.
     * @throws PayloadConversionException if the payload cannot be written
     */
    public byte[] write(Object payload, Map<String, String> headers) {
        try (ByteArrayBuilder bytes = new ByteArrayBuilder(); JsonGenerator json = this.mapper.createGenerator(bytes)) {
            json.writeStartObject();
            if (!headers.isEmpty()) {
                json.writeObjectPropertyStart("headers");
                headers.forEach(json::writeStringProperty);
                json.writeEndObject();
            }
            json.writeName("payload");
            int fields = json.streamWriteContext().getEntryCount();
            this.mapper.writeValue(json, payload);
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
            // Not only Jackson's: a serializer of the application may throw anything.
            Throwable cause = causeOf(ex);
            String why = (cause instanceof PayloadConversionException refused) ? refused.getMessage()
                    : describe(ex) + reason(ex);
            throw new PayloadConversionException(
                    "Payload of %s cannot be written as JSON: %s".formatted(payload.getClass().getName(), why), cause);
        }
    }

    /**
     * Whether the payload, which comes last, is {@code null}: nobody could read it. No
     * other value of JSON ends with an l.
     */
    private static boolean endsInNull(byte[] envelope) {
        int last = envelope.length - 2;
        while (Character.isWhitespace(envelope[last])) {
            last--;
        }
        return envelope[last] == 'l';
    }

    /**
     * Reads a message, its payload as it is.
     * @throws PayloadConversionException if these bytes are no message of a version that
     * is known
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
                // Jackson would read other encodings too, but cannot say where a value
                // lies.
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

    /** The value from {@code start} up to the token at {@code end}, without a comma. */
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
     * @throws PayloadConversionException if it cannot be read as that
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

    /** For messages with payloads of a type, generic ones included. */
    public PayloadReader reader(Type type) {
        return new PayloadReader(this, this.mapper, this.mapper.getTypeFactory().constructType(type));
    }

    /** The payload as text, for people. */
    public static String text(Envelope envelope) {
        return new String(envelope.payload(), StandardCharsets.UTF_8);
    }

    /**
     * What went wrong and where. The exception's own message may quote the payload, which
     * is why it is neither repeated nor kept as a cause when reading.
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
     * Why a type cannot be written, in Jackson's words; empty if a value may be the
     * reason.
     */
    private static String reason(RuntimeException ex) {
        return (ex instanceof JacksonException failure && concernsType(failure)) ? ": " + failure.getOriginalMessage()
                : "";
    }

    /** Whether what it says is about a type or a limit, and so quotes no value. */
    private static boolean concernsType(JacksonException failure) {
        return failure instanceof InvalidDefinitionException || failure instanceof StreamConstraintsException;
    }

    /**
     * What code of the application threw, or what Jackson did if that quotes nothing:
     * keys of maps are part of the path that its exceptions name.
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
     * A step on the way to the failure. Keys of maps, and names nobody knows, are
     * content.
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

}
