package io.delayqueue.web.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

import io.delayqueue.fixtures.InputMutator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.POJONode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Checks that bodies become trees, except for their payloads, which stay as they were
 * sent.
 */
class JsonBodyReaderTests {

    private static JsonNode read(String body) {
        return JsonBodyReader.read(body.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = { "42.50", "1e2", "1E+400", "-0.0", "12345678901234567890", "\"a\\u0000\\\"\u2028\u00e9\"",
            "\"a\\ud83d\"", "[\"\\udc00\\udc01\",\"\ud83d\ude00\"]", "true", "[]", "{}", "[{},[1.10,null],\"\"]",
            "{\"payload\":{\"messages\":[1.0]},\"b\":[]}" })
    void aPayloadStaysUnchanged(String payload) {
        assertThat(read("{\"payload\": " + payload + ", \"id\": \"1\"}").path("payload")).isInstanceOf(POJONode.class);
        JsonNode batch = read("{\"messages\": [{\"payload\": 1}, {\"payload\":" + payload + "}]}");
        assertThat(Json.bytes(batch)).asString(StandardCharsets.UTF_8)
            .isEqualTo("{\"messages\":[{\"payload\":1},{\"payload\":" + payload + "}]}");
    }

    @Test
    void whiteSpaceBetweenItsTokensIsLeftOut() {
        assertThat(Json.bytes(read(" { \"payload\" : { \"a b\" : [ 1 , 2.0 ] } } "))).asString(StandardCharsets.UTF_8)
            .isEqualTo("{\"payload\":{\"a b\":[1,2.0]}}");
    }

    @Test
    void otherFieldsOfThatNameAreOrdinary() {
        JsonNode body = read(
                "{\"headers\": {\"payload\": \"x\"}, \"messages\": {\"payload\": {\"a\": 1}}, \"payload\": null}");

        assertThat(body.at("/headers/payload").stringValue()).isEqualTo("x");
        assertThat(body.at("/messages/payload/a").intValue()).isEqualTo(1);
        assertThat(body.path("payload").isNull()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = { "", " ", "{", "{}}", "{} {}", "{\"payload\": [}", "{\"payload\": 1,}", "{\"payload\": 01}",
            "{\"payload\": {\"a\": 1, \"a\": 2}}", "{\"payload\": 1, \"payload\": 2}", "{\"payload\": NaN}",
            "{\"messages\": [{\"payload\": 1, \"payload\": 1}]}", "{\"payload\": \"\n\"}", "{'payload': 1}" })
    void invalidJsonAndDuplicateFieldsAreRejected(String body) {
        assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> read(body))
            .matches((refusal) -> refusal.problem().kind() == Problem.Kind.INVALID)
            .withMessageStartingWith("The body is ");
    }

    @Test
    void theDepthOfAPayloadIsBounded() {
        assertThat(read("{\"payload\": " + "[".repeat(399) + "]".repeat(399) + "}").has("payload")).isTrue();
        assertThatExceptionOfType(ProblemException.class)
            .isThrownBy(() -> read("{\"payload\": " + "[".repeat(400) + "]".repeat(400) + "}"));
    }

    @Test
    void theTreeIsBoundedButNotThePayload() {
        String many = "[" + "{},".repeat(60_000) + "{}]";

        assertThat(read("{\"payload\": " + many + "}").has("payload")).isTrue();
        for (String field : List.of("headers", "messages", "ids")) {
            assertThatExceptionOfType(ProblemException.class)
                .isThrownBy(() -> read("{\"" + field + "\": " + many + "}"))
                .withMessage("The body is not valid: use at most 50000 values besides payloads");
        }
    }

    /** Checked without building a tree. */
    @Test
    void aStoredPayloadIsReadableIfItParsesToATree() {
        JsonMapper trees = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
        InputMutator mutations = new InputMutator(
                List.of("{\"a\":[1,2.50,\"x\\u0041\",null],\"b\":{\"c\":true}}".getBytes(),
                        "[\"\u00e9\",-1e10,{}]".getBytes(StandardCharsets.UTF_8), "12345".getBytes()),
                new Random().nextLong());
        for (int i = 0; i < 5_000; i++) {
            String text = new String(mutations.input(i), StandardCharsets.UTF_8);
            assertThat(Json.isReadable(text)).as(text).isEqualTo(isTree(trees, text));
        }
    }

    private static boolean isTree(JsonMapper mapper, String text) {
        try {
            return !mapper.readTree(text).isMissingNode();
        }
        catch (JacksonException ex) {
            return false;
        }
    }

}
