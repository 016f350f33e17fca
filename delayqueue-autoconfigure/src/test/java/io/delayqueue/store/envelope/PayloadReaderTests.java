package io.delayqueue.store.envelope;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;

import io.delayqueue.PayloadConversionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Checks that the fast path for messages without headers reads and rejects the same as
 * the codec.
 */
class PayloadReaderTests {

    /** Leaves it to the reader to find what follows a value. */
    private final JsonMapper mapper = JsonMapper.builder()
        .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build();

    private final EnvelopeCodec codec = new EnvelopeCodec(this.mapper);

    private final PayloadReader reader = this.codec.reader(Order.class);

    @Test
    void messagesAreReadAsWritten() {
        Order order = new Order(7, "}\",\"");

        assertThat(this.reader.read(this.codec.write(order, Map.of())))
            .isEqualTo(new PayloadReader.Content(order, Map.of()));
        assertThat(this.reader.read(this.codec.write(order, Map.of("a", "b"))))
            .isEqualTo(new PayloadReader.Content(order, Map.of("a", "b")));
    }

    @Test
    void headersMayFollowThePayload() {
        assertThat(this.reader.read(bytes("{\"payload\":{\"id\":7},\"headers\":{\"a\":\"b\"}}")))
            .isEqualTo(new PayloadReader.Content(new Order(7, null), Map.of("a", "b")));
    }

    @ParameterizedTest
    @ValueSource(strings = { "{\"payload\":{\"id\":7},\"v\":2}", "{\"payload\":{\"id\":7}}}",
            "{\"payload\":{\"id\":7}]", "{\"payload\":}", "{\"payload\":{\"id\":7}} {}", "{\"payload\":",
            "{\"payload\":null}", "{\"payload\":{\"id\":\"x\"}}" })
    void payloadsThatTheCodecRejectsAreRejectedForTheSameReason(String stored) {
        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> this.reader.read(bytes(stored)))
            .withMessage(answerOfTheCodec(bytes(stored)));
    }

    @ParameterizedTest
    @ValueSource(strings = { "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE", "UTF-16", "UTF-8" })
    void aPayloadInAnotherEncodingThanTheRestIsNoMessage(String encoding) {
        // In UTF-8, with the byte order mark that some programs write.
        String payload = (encoding.equals("UTF-8") ? "\ufeff" : "") + "{\"id\":7}";
        byte[] stored = (new String(payload.getBytes(Charset.forName(encoding)), StandardCharsets.ISO_8859_1))
            .transform((inner) -> ("{\"payload\":" + inner + "}").getBytes(StandardCharsets.ISO_8859_1));

        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> this.reader.read(stored))
            .withMessage(answerOfTheCodec(stored));
    }

    @Test
    void hostileBytesAreReadOrRefusedAsByTheCodec() {
        Random random = new Random(20261121);
        byte[][] seeds = { this.codec.write(new Order(7, "tea"), Map.of()),
                this.codec.write(new Order(7, "tea"), Map.of("h", "x")),
                bytes("{\"payload\":{\"id\":7,\"name\":\"tea\"},\"v\":1}") };
        int read = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] stored = EnvelopeCodecTests.mutate(seeds[round % seeds.length].clone(), random);
            String answer = answer(stored);
            assertThat(answer).isEqualTo(answerOfTheCodec(stored));
            read += answer.startsWith("Content") ? 1 : 0;
        }
        assertThat(read).isBetween(500, 19_500);
    }

    private String answer(byte[] stored) {
        try {
            return this.reader.read(stored).toString();
        }
        catch (PayloadConversionException ex) {
            return ex.getMessage();
        }
    }

    private String answerOfTheCodec(byte[] stored) {
        try {
            Envelope envelope = this.codec.read(stored);
            return new PayloadReader.Content(this.codec.readPayload(envelope.payload(), Order.class),
                    envelope.headers())
                .toString();
        }
        catch (PayloadConversionException ex) {
            return ex.getMessage();
        }
    }

    private static byte[] bytes(String stored) {
        return stored.getBytes(StandardCharsets.UTF_8);
    }

    record Order(Integer id, String name) {
    }

}
