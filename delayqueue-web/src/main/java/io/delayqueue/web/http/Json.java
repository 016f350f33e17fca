package io.delayqueue.web.http;

import java.io.Writer;
import java.util.Locale;
import java.util.stream.Collectors;

import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.util.RawValue;

/**
 * Reads and writes the JSON of the API. Numbers keep all their digits, and duplicate
 * fields are rejected. Reads into trees only, so JSON never names a class.
 */
public final class Json {

    /**
     * Depth of a request body. Keeps the JSON that consumers get below the default limit
     * of parsers.
     */
    private static final int MAX_READ_DEPTH = 400;

    /** Depth of a response, which wraps payloads of other senders. */
    private static final int MAX_WRITE_DEPTH = 2 * StreamReadConstraints.DEFAULT_MAX_DEPTH;

    private static final JsonMapper mapper = mapper(MAX_READ_DEPTH).enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .build();

    /** Reads payloads of other senders, which may have duplicate fields. */
    private static final JsonMapper lenient = mapper(StreamReadConstraints.DEFAULT_MAX_DEPTH).build();

    private static final ObjectWriter ascii = mapper.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII);

    private static final int MAX_QUOTED = 80;

    private Json() {
    }

    private static JsonMapper.Builder mapper(int depth) {
        return JsonMapper
            .builder(JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(depth).build())
                .streamWriteConstraints(StreamWriteConstraints.builder().maxNestingDepth(MAX_WRITE_DEPTH).build())
                .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES);
    }

    /** Reads JSON of this project. */
    public static JsonNode read(byte[] json) {
        return mapper.readTree(json);
    }

    /**
     * Returns whether a stored payload is JSON. Parses it without building a tree, which
     * may take thirty times its size.
     */
    public static boolean isReadable(String payload) {
        try (JsonParser json = lenient.createParser(payload)) {
            if (json.nextToken() == null) {
                return false;
            }
            json.skipChildren();
            return json.nextToken() == null;
        }
        catch (JacksonException ex) {
            return false;
        }
    }

    /** Returns a node that writes the stored payload unchanged. */
    public static JsonNode raw(String payload) {
        return JsonNodeFactory.instance.rawValueNode(new RawValue(payload));
    }

    /** Reads the body of a request token by token. */
    static JsonParser parser(byte[] body) {
        return mapper.createParser(body);
    }

    static JsonGenerator generator(Writer writer) {
        return mapper.createGenerator(writer);
    }

    public static byte[] bytes(JsonNode json) {
        return mapper.writeValueAsBytes(json);
    }

    /** Writes JSON in one line, with all non-ASCII characters escaped. */
    public static String ascii(JsonNode json) {
        return ascii.writeValueAsString(json);
    }

    /** Quotes an external value for a sentence, cut and cleaned. */
    public static String quoted(String value) {
        String cut = (value.length() > MAX_QUOTED) ? value.substring(0, MAX_QUOTED) + "..." : value;
        return "'" + cut.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?") + "'";
    }

    /** Returns an external text in one line, cut and cleaned. */
    public static String line(String text, int most) {
        String line = text.lines().collect(Collectors.joining(" "));
        return ((line.length() > most) ? line.substring(0, most) : line).replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
    }

    static String kind(JsonNode value) {
        return value.getNodeType().name().toLowerCase(Locale.ROOT);
    }

}
