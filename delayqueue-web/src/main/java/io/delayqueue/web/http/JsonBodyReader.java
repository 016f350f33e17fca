package io.delayqueue.web.http;

import java.io.StringWriter;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the body of a request into a tree of limited size. Payloads stay text, without
 * white space between tokens, because a tree may take thirty times their size. Used once,
 * by one thread.
 */
final class JsonBodyReader {

    /** Exceeds the largest batch with as many headers as fit. */
    private static final int MAX_VALUES = 50_000;

    /** Matches a surrogate that is not part of a pair. */
    private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");

    private static final String PAYLOAD = "payload";

    private static final String MESSAGES = "messages";

    private static final JsonNodeFactory nodes = JsonNodeFactory.instance;

    private final JsonParser json;

    private int values;

    private JsonBodyReader(JsonParser json) {
        this.json = json;
    }

    /**
     * Reads a body.
     * @return its value, in which each payload is raw
     * @throws ProblemException if it is not JSON, or too large
     */
    static JsonNode read(byte[] body) {
        try (JsonParser json = Json.parser(body)) {
            if (json.nextToken() == null) {
                throw ProblemException.invalid("The body is empty; use a JSON object");
            }
            JsonNode value = new JsonBodyReader(json).body();
            if (json.nextToken() != null) {
                throw unreadable(json.currentTokenLocation());
            }
            return value;
        }
        catch (JacksonException ex) {
            throw unreadable(ex.getLocation());
        }
    }

    private static ProblemException unreadable(@Nullable TokenStreamLocation place) {
        return ProblemException.invalid("The body is no JSON that can be read"
                + ((place == null) ? "" : " (line %d, column %d)".formatted(place.getLineNr(), place.getColumnNr())));
    }

    private JsonNode body() {
        return (this.json.currentToken() == JsonToken.START_OBJECT) ? message(true) : value();
    }

    /**
     * Reads an object that may have a payload.
     * @param batch whether it may also have messages, each with a payload
     */
    private ObjectNode message(boolean batch) {
        ObjectNode object = nodes.objectNode();
        while (this.json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = this.json.currentName();
            JsonToken token = this.json.nextToken();
            if (name.equals(PAYLOAD)) {
                object.set(name, payload(token));
            }
            else if (batch && name.equals(MESSAGES) && token == JsonToken.START_ARRAY) {
                object.set(name, messages());
            }
            else {
                object.set(name, value());
            }
        }
        return object;
    }

    private ArrayNode messages() {
        ArrayNode array = nodes.arrayNode();
        for (JsonToken token = this.json.nextToken(); token != JsonToken.END_ARRAY; token = this.json.nextToken()) {
            count();
            array.add((token == JsonToken.START_OBJECT) ? message(false) : value());
        }
        return array;
    }

    private JsonNode payload(JsonToken first) {
        if (first == JsonToken.VALUE_NULL) {
            return nodes.nullNode();
        }
        StringWriter text = new StringWriter();
        try (JsonGenerator copy = Json.generator(text)) {
            int depth = 0;
            JsonToken token = first;
            while (true) {
                depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
                if (token.isNumeric()) {
                    // Keeps the digits as sent: 42.50 must not become 42.5.
                    copy.writeNumber(this.json.getString());
                }
                else {
                    copy.copyCurrentEvent(this.json);
                }
                if (depth == 0) {
                    break;
                }
                token = this.json.nextToken();
            }
        }
        return Json.raw(writable(text.toString()));
    }

    /**
     * Escapes surrogates that are not part of a pair, such as the end of a text that was
     * cut within a character. JSON may have them as escape sequences only, as UTF-8 has
     * no form of them.
     */
    private static String writable(String json) {
        if (json.chars().noneMatch((unit) -> Character.isSurrogate((char) unit))) {
            return json;
        }
        return LONE_SURROGATE.matcher(json).replaceAll((one) -> "\\\\u%04x".formatted((int) one.group().charAt(0)));
    }

    private JsonNode value() {
        count();
        return switch (this.json.currentToken()) {
            case START_OBJECT -> object();
            case START_ARRAY -> array();
            case VALUE_STRING -> nodes.stringNode(this.json.getString());
            case VALUE_NUMBER_INT -> integer();
            case VALUE_NUMBER_FLOAT -> nodes.numberNode(this.json.getDecimalValue());
            case VALUE_TRUE, VALUE_FALSE -> nodes.booleanNode(this.json.getBooleanValue());
            case VALUE_NULL -> nodes.nullNode();
            default -> throw unreadable(this.json.currentTokenLocation());
        };
    }

    private JsonNode integer() {
        return switch (this.json.getNumberType()) {
            case INT -> nodes.numberNode(this.json.getIntValue());
            case LONG -> nodes.numberNode(this.json.getLongValue());
            default -> nodes.numberNode(this.json.getBigIntegerValue());
        };
    }

    private ObjectNode object() {
        ObjectNode object = nodes.objectNode();
        while (this.json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = this.json.currentName();
            this.json.nextToken();
            object.set(name, value());
        }
        return object;
    }

    private ArrayNode array() {
        ArrayNode array = nodes.arrayNode();
        while (this.json.nextToken() != JsonToken.END_ARRAY) {
            array.add(value());
        }
        return array;
    }

    private void count() {
        if (++this.values > MAX_VALUES) {
            throw ProblemException
                .invalid("The body is not valid: use at most %d values besides payloads".formatted(MAX_VALUES));
        }
    }

}
