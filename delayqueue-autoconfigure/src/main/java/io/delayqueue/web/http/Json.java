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
 * JSON as the API reads and writes it: numbers keep all their digits, and an object that
 * says a thing twice is refused. Into trees only, so nothing in it names a class.
 */
public final class Json {

    /**
     * Of a body, so that what consumers are handed is no deeper than parsers take by
     * default.
     */
    private static final int MAX_READ_DEPTH = 400;

    /** Of an answer, which stands around whatever others have sent. */
    private static final int MAX_WRITE_DEPTH = 2 * StreamReadConstraints.DEFAULT_MAX_DEPTH;

    private static final JsonMapper mapper = mapper(MAX_READ_DEPTH).enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .build();

    /** For what others have sent, which may say a thing twice. */
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

    /** Reads JSON of our own. */
    public static JsonNode read(byte[] json) {
        return mapper.readTree(json);
    }

    /**
     * Whether a payload is JSON, as it is stored. Goes through it without keeping any of
     * it: a tree may take thirty times its size.
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

    /** A payload that is written to the letter as it is stored. */
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

    /** In one line, with every character escaped that could show as anything else. */
    public static String ascii(JsonNode json) {
        return ascii.writeValueAsString(json);
    }

    /** A value from outside, cut and cleaned, for a sentence. */
    public static String quoted(String value) {
        String cut = (value.length() > MAX_QUOTED) ? value.substring(0, MAX_QUOTED) + "..." : value;
        return "'" + cut.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?") + "'";
    }

    /** A text from outside in one line, cut and cleaned. */
    public static String line(String text, int most) {
        String line = text.lines().collect(Collectors.joining(" "));
        return ((line.length() > most) ? line.substring(0, most) : line).replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
    }

    static String kind(JsonNode value) {
        return value.getNodeType().name().toLowerCase(Locale.ROOT);
    }

}
