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
        assertThat(MessageKey.expression(expression, CODEC).of(message("customer-7", Map.of("region", "eu"))))
            .isEqualTo(key);
    }

    @Test
    void withoutAnExpressionTheKeyIsThatOfTheIntakeElseTheGroupElseTheId() {
        assertThat(MessageKey.OF_GROUP_OR_ID.of(message(null, Map.of()))).isEqualTo("order-1");
        assertThat(MessageKey.OF_GROUP_OR_ID.of(message("customer-7", Map.of()))).isEqualTo("customer-7");
        assertThat(MessageKey.OF_GROUP_OR_ID.of(message("customer-7", Map.of("delayqueue-key", "k")))).isEqualTo("k");
    }

    /** Expressions come from the configuration, and still may not run any code. */
    @ParameterizedTest
    @CsvSource({ "T(java.lang.System).exit(1)", "new java.io.File('x')", "payload['none']['id']" })
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
