package io.delayqueue.migrate.engine;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Decodes payloads. */
class PayloadDecodersTests {

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    @ParameterizedTest
    @ValueSource(strings = { "{\"amount\":1.10,\"big\":12345678901234567890.000000000000000001,\"a\":\"\\u00fc\"}",
            "[]", "1", "true", "\"text\"", " {} " })
    void jsonIsKeptAsItIs(String json) throws Exception {
        assertThat(MAPPER.writeValueAsString(decode("json", json))).isEqualTo(json.strip());
    }

    @ParameterizedTest
    @ValueSource(strings = { "", " ", "null", "{", "{}{}", "{\"secret\":}", "\u0004\u0000xyz" })
    void otherTextIsRejectedWithoutQuotingIt(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> decode("json", text))
            .withMessageStartingWith("it ")
            .withMessageNotContaining("secret");
    }

    @Test
    void textIsKeptAsItIs() throws Exception {
        assertThat(decode("string", "für {\"x\"")).isEqualTo("für {\"x\"");
    }

    @Test
    void bytesThatAreNoTextAreRejected() {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> PayloadDecoders.named("string")
                .decode(SourceEntry.of("id", Instant.EPOCH, new byte[] { (byte) 0xac, (byte) 0xed, 0, 5 })))
            .withMessageStartingWith("it is not UTF-8")
            .withMessageEndingWith("name a decoder by --payload");
    }

    @Test
    void aClassIsCreatedByItsName() throws Exception {
        assertThat(decode(Lengths.class.getName(), "abc")).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = { "xml", "java.lang.String", "com.example.Missing" })
    void anUnknownDecoderIsRejectedWithTheRule(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> PayloadDecoders.named(name))
            .withMessageContaining("--payload=" + name + " is not valid");
    }

    private static Object decode(String decoder, String text) throws Exception {
        return PayloadDecoders.named(decoder)
            .decode(SourceEntry.of("id", Instant.EPOCH, text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Decodes a payload as its length. */
    public static class Lengths implements PayloadDecoder {

        @Override
        public Object decode(SourceEntry entry) {
            return entry.payload().length;
        }

    }

}
