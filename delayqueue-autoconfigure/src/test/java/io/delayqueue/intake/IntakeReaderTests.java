package io.delayqueue.intake;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Tests which messages of a broker are scheduled, and how. */
class IntakeReaderTests {

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    private final IntakeReader reader = new IntakeReader(new QueueName("orders"), this.codec);

    private final Map<String, String> headers = new HashMap<>(Map.of("delayqueue-delay", "PT5M"));

    private final Map<String, byte[]> binaries = new HashMap<>();

    private byte[] key = "customer-7".getBytes(StandardCharsets.UTF_8);

    private DelayedMessage read(String payload) {
        return read(payload.getBytes(StandardCharsets.UTF_8));
    }

    private DelayedMessage read(byte[] payload) {
        IntakeHeaders all = new IntakeHeaders();
        this.headers.forEach(all::put);
        this.binaries.forEach(all::put);
        return this.reader.read(new IntakeMessage("test", "topic-0-7", this.key, all, payload));
    }

    @Test
    void aMessageKeepsItsPayloadHeadersAndKey() {
        this.headers.putAll(Map.of("tag", "gold", "contentType", "application/json", "timestamp", "1",
                "delayqueue-group", "g", "delayqueue-priority", "9", "delayqueue_id", "forged"));

        DelayedMessage message = read(" {\"total\":12.500000000000000000001} ");

        assertThat(message.queue()).hasToString("orders");
        assertThat(message.id()).contains("topic-0-7");
        assertThat(message.delay()).contains(Duration.ofMinutes(5));
        assertThat(message.group()).contains("g");
        assertThat(message.priority()).isEqualTo(9);
        assertThat(message.headers()).isEqualTo(Map.of("tag", "gold", "delayqueue-key", "customer-7"));
        assertThat(this.codec.read(this.codec.write(message.payload(), Map.of())).payload()).asString()
            .isEqualTo("{\"total\":12.500000000000000000001}");
    }

    /** Otherwise a consumer of the forwarded message could not read them. */
    @Test
    void keysAndHeadersThatAreNoTextAreStoredInBase64() {
        this.key = new byte[] { (byte) 0xC8, 1 };
        this.binaries.put("signature", new byte[] { (byte) 0xFF });
        this.binaries.put("text", "\u00e4".getBytes(StandardCharsets.UTF_8));

        assertThat(read("1").headers()).isEqualTo(Map.of("delayqueue-binary-delayqueue-key", "yAE=",
                "delayqueue-binary-signature", "/w==", "text", "\u00e4"));
    }

    /** No producer may set the stored form of these headers. */
    @Test
    void headersOfTheLibraryAreNotTakenOver() {
        this.headers.putAll(Map.of("delayqueue-binary-x", "forged", "delayqueue-key", "forged"));

        assertThat(read("1").headers()).isEqualTo(Map.of("delayqueue-key", "customer-7"));
    }

    /** Spring's header mappers write values that are no texts in JSON. */
    @Test
    void aTimeMayBeInQuotes() {
        this.headers.put("delayqueue-delay", "\"PT30M\"");

        assertThat(read("1").delay()).contains(Duration.ofMinutes(30));
    }

    @Test
    void aMessageWithoutATimeIsRejected() {
        this.headers.clear();

        assertThatExceptionOfType(InvalidIntakeException.class).isThrownBy(() -> read("1"))
            .withMessage("it has no header 'delayqueue-due' or 'delayqueue-delay'");
    }

    @Test
    void aBinaryHeaderOfTheLibraryIsRejected() {
        this.binaries.put("delayqueue-delay", new byte[] { (byte) 0x80 });

        assertThatExceptionOfType(InvalidIntakeException.class).isThrownBy(() -> read("1"))
            .withMessage("header 'delayqueue-delay' is not a text in UTF-8");
    }

    /** Values of foreign producers must not add lines to the log, or fill it. */
    @Test
    void anInvalidValueIsQuotedInOneShortLine() {
        this.headers.put("delayqueue-delay", "a\n2026 ERROR forged" + "x".repeat(5000));

        assertThatExceptionOfType(InvalidIntakeException.class).isThrownBy(() -> read("1"))
            .satisfies((ex) -> assertThat(ex.getMessage()).hasSizeLessThan(200).doesNotContain("\n"));
    }

    @Test
    void aHeaderTakesPrecedenceOverThePositionAsId() {
        this.headers.put("delayqueue-id", "order-1");

        assertThat(read("1").id()).contains("order-1");
    }

    @ParameterizedTest
    @CsvSource({ "2030-01-31T08:30:00.250Z, 2030-01-31T08:30:00.250Z", "1896078600250, 2030-01-31T08:30:00.250Z" })
    void aDueTimeIsAnInstantOrMilliseconds(String header, Instant due) {
        this.headers.clear();
        this.headers.put("delayqueue-due", header);

        assertThat(read("1").dueAt()).contains(due);
    }

    @Test
    void aDelayMayBeInMilliseconds() {
        this.headers.put("delayqueue-delay", "1500");

        assertThat(read("1").delay()).contains(Duration.ofMillis(1500));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "delayqueue-delay | soon | header 'delayqueue-delay' must be in ISO 8601",
            "delayqueue-delay | -PT1S | Delay -1 s is not valid",
            "delayqueue-due | tomorrow | header 'delayqueue-due' must be in ISO 8601",
            "delayqueue-due | 2030-01-31T08:30:00Z | A message has a delay or a due time, not both",
            "delayqueue-id | a b | Message id 'a b' is not valid", "delayqueue-group | a b | Group 'a b' is not valid",
            "delayqueue-priority | high | header 'delayqueue-priority' must be 0 to 9",
            "delayqueue-priority | 10 | Priority 10 is not valid" })
    void anInvalidHeaderIsRejected(String name, String value, String problem) {
        this.headers.put(name, value);

        assertThatExceptionOfType(InvalidIntakeException.class).isThrownBy(() -> read("1"))
            .withMessageContaining(problem);
    }

    /** Two of them would add fields to the stored message. */
    @ParameterizedTest
    @ValueSource(strings = { "", "plain text", "{\"a\":1", "null", "1,\"headers\":{}", "1}", "{} {}" })
    void aPayloadThatIsNoJsonValueIsRejected(String payload) {
        assertThatExceptionOfType(InvalidIntakeException.class).isThrownBy(() -> read(payload))
            .withMessage("its payload is not a JSON value in UTF-8");
    }

    @Test
    void aPayloadInAnotherEncodingIsRejected() {
        assertThatExceptionOfType(InvalidIntakeException.class)
            .isThrownBy(() -> read("\"\u00e4\"".getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** A forwarded message that is scheduled again might be forwarded without end. */
    @Test
    void aForwardedMessageIsRejected() {
        this.headers.putAll(Map.of("delayqueue-attempt", "1", "delayqueue-queue", "invoices"));

        assertThatExceptionOfType(InvalidIntakeException.class).isThrownBy(() -> read("1"))
            .withMessageContaining("it was forwarded from queue 'invoices'");
    }

    @Test
    void anIdIsTheSameForAMessageThatIsReadAgain() {
        assertThat(IntakeReader.idOf("topic-0-7")).isEqualTo("topic-0-7");
        assertThat(IntakeReader.idOf("x".repeat(200))).hasSize(36).isEqualTo(IntakeReader.idOf("x".repeat(200)));
        assertThat(IntakeReader.idOf("a b")).hasSize(36);
        // Of occurrences of schedules.
        assertThat(IntakeReader.idOf("@a")).hasSize(36);
    }

}
