package io.delayqueue.forward;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Tests the keys of forwarded messages. */
class MessageKeyTests {

    private static final EnvelopeCodec CODEC = new EnvelopeCodec(JsonMapper.builder().build());

    private static ForwardedMessage message(@Nullable String group, Map<String, String> headers) {
        return new ForwardedMessage("orders", "order-1", group, Instant.EPOCH, 1, 0, headers,
                "{\"customer\":{\"id\":42},\"paid\":true}".getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({ "id, order-1", "group, customer-7", "queue, orders", "headers['region'], eu",
            "payload['customer']['id'], 42", "queue + ':' + payload['paid'], orders:true", "headers['none'], " })
    void anExpressionReadsTheMessage(String expression, @Nullable String key) {
        byte[] actual = MessageKey.expression(expression, CODEC).of(message("customer-7", Map.of("region", "eu")));
        assertThat((actual != null) ? new String(actual, StandardCharsets.UTF_8) : null).isEqualTo(key);
    }

    private static String key(@Nullable String group, Map<String, String> headers) {
        return new String(MessageKey.OF_GROUP_OR_ID.of(message(group, headers)), StandardCharsets.UTF_8);
    }

    /** The messages of a group are in order only within one partition. */
    @Test
    void withoutAnExpressionTheKeyIsTheGroupElseThatOfTheIntakeElseTheId() {
        assertThat(key(null, Map.of())).isEqualTo("order-1");
        assertThat(key("customer-7", Map.of())).isEqualTo("customer-7");
        assertThat(key(null, Map.of("delayqueue-key", "k"))).isEqualTo("k");
        assertThat(key("customer-7", Map.of("delayqueue-key", "k"))).isEqualTo("customer-7");
    }

    @Test
    void aKeyThatWasNoTextIsTheSameBytes() {
        assertThat(MessageKey.OF_GROUP_OR_ID.of(message(null, Map.of("delayqueue-binary-delayqueue-key", "yAE="))))
            .containsExactly(0xC8, 1);
        assertThat(key(null, Map.of("delayqueue-binary-delayqueue-key", "no base64"))).isEqualTo("order-1");
    }

    /** Expressions come from the configuration, and still may not run any code. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "T(java.lang.System).exit(1)", "new java.io.File('x')",
            "payload['none']['id']", "id.substring(0, 99)" })
    void anExpressionThatFailsMakesTheMessageUndeliverable(String expression) {
        MessageKey key = MessageKey.expression(expression, CODEC);

        assertThatExceptionOfType(UndeliverableMessageException.class).isThrownBy(() -> key.of(message(null, Map.of())))
            .withMessageContaining(expression)
            .withNoCause();
    }

    @Test
    void whatIsNoExpressionIsRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> MessageKey.expression("payload[", CODEC))
            .withMessageStartingWith("'payload[' is not an expression");
    }

}
