package io.delayqueue.store.envelope;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Type;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.delayqueue.PayloadConversionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Checks the stored form: a foreign writer can break a message but neither the reader nor
 * the privacy of payloads, and a later version may add fields.
 */
class EnvelopeCodecTests {

    private static final String SECRET = "4111111111111111";

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    @Test
    void theStoredFormIsReadableAndNamesNoClass() {
        assertThat(new String(this.codec.write(new Order(7, "é"), Map.of()), StandardCharsets.UTF_8))
            .isEqualTo("{\"payload\":{\"id\":7,\"name\":\"é\"}}");
        assertThat(new String(this.codec.write(7, Map.of("a", "b"))))
            .isEqualTo("{\"headers\":{\"a\":\"b\"},\"payload\":7}");
    }

    @Test
    void payloadsOfAllShapesAreReadAsWritten() {
        for (Object payload : List.of(7, -1.5, true, "", "a, \"b\"} ]", "😀 \u0000", List.of(), Map.of(), List.of(1, 2),
                Map.of("a", List.of(Map.of("b", 1))))) {
            Envelope read = this.codec.read(this.codec.write(payload, Map.of()));

            assertThat(this.codec.readPayload(read.payload(), Object.class)).isEqualTo(payload);
        }
    }

    @Test
    void recordsAndGenericTypesAreReadAsWritten() throws Exception {
        List<Order> orders = List.of(new Order(7, "a"), new Order(8, "b"));
        Type listOfOrders = getClass().getDeclaredField("example").getGenericType();

        Envelope read = this.codec.read(this.codec.write(orders, Map.of()));

        assertThat(this.codec.readPayload(read.payload(), listOfOrders)).isEqualTo(orders);
    }

    List<Order> example = new ArrayList<>();

    @Test
    void headersOfAnyTextAreReadAsWritten() {
        Map<String, String> headers = Map.of("a", "", "ü \"x\"", "line\nbreak", "payload", "{\"v\":2}", "v", "😀");

        Envelope read = this.codec.read(this.codec.write("x", headers));

        assertThat(read.headers()).isEqualTo(headers);
        assertThat(EnvelopeCodec.text(read)).isEqualTo("\"x\"");
    }

    @Test
    void theOrderOfFieldsAndSpaceBetweenThemDoNotMatter() {
        assertThat(text(" { \"payload\" : {\"x\": 1 } ,\n \"headers\":{\"a\":\"b\"}, \"v\":1 }\n"))
            .isEqualTo("{\"x\": 1 }");
        assertThat(text("{\"headers\":{},\"payload\":12 , \"v\":1}")).isEqualTo("12");
        assertThat(text("{\"v\":1,\"payload\":12}")).isEqualTo("12");
        assertThat(text("{\"payload\":12}")).isEqualTo("12");
        assertThat(text("\uFEFF{\"v\":1,\"payload\":[1 , 2]}")).isEqualTo("[1 , 2]");
    }

    @Test
    void fieldsThatAreNotKnownAreSkipped() {
        assertThat(text("{\"new\":{\"payload\":1,\"v\":9},\"v\":1,\"more\":[[]],\"payload\":\"x\",\"last\":null}"))
            .isEqualTo("\"x\"");
    }

    @ParameterizedTest
    @ValueSource(strings = { "", " ", "null", "[]", "7", "{", "{}", "{\"v\":1}", "{\"v\":2,\"payload\":1}",
            "{\"v\":\"1\",\"payload\":1}", "{\"v\":1.0,\"payload\":1}", "{\"v\":99999999999,\"payload\":1}",
            "{\"v\":1,\"payload\":1", "{\"v\":1,\"payload\":1}}", "{\"v\":1,\"payload\":1} {}",
            "{\"v\":1,\"payload\":}", "{\"v\":1,\"headers\":[],\"payload\":1}",
            "{\"v\":1,\"headers\":{\"a\":1},\"payload\":1}", "{\"v\":1,\"headers\":{\"a\":null},\"payload\":1}",
            "{\"v\":1,\"headers\":{\"a\":\"b\",\"payload\":1}" })
    void aMessageOfNoKnownVersionIsNotReadable(String stored) {
        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> text(stored))
            .withMessageStartingWith("The stored message is not readable: ")
            .withNoCause();
    }

    @ParameterizedTest
    @ValueSource(strings = { "UTF-16BE", "UTF-16LE", "UTF-32BE", "UTF-32LE", "UTF-16" })
    void otherEncodingsThanUtf8AreNotReadable(String charset) {
        byte[] stored = "{\"v\":1,\"payload\":1}".getBytes(Charset.forName(charset));

        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> this.codec.read(stored));
    }

    @Test
    void hostileBytesMakeOneKindOfExceptionAndQuoteNothing() {
        Random random = new Random(20261121);
        byte[][] seeds = { this.codec.write(Map.of("card", SECRET, "n", List.of(1, 2.5, true)), Map.of("h", SECRET)),
                this.codec.write(SECRET, Map.of()), this.codec.write(List.of(Map.of(SECRET, SECRET)), Map.of()) };
        int refused = 0;
        for (int round = 0; round < 30_000; round++) {
            byte[] bytes = mutate(seeds[round % seeds.length].clone(), random);
            try {
                Envelope envelope = this.codec.read(bytes);
                this.codec.readPayload(envelope.payload(), (round % 2 == 0) ? Order.class : Map.class);
            }
            catch (PayloadConversionException ex) {
                refused++;
                assertThat(ex.getMessage()).doesNotContain(SECRET.substring(0, 8));
                assertThat(ex.getCause()).isNull();
            }
        }
        assertThat(refused).isGreaterThan(10_000);
    }

    static byte[] mutate(byte[] bytes, Random random) {
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] = (byte) "{}[]\",:\\u0en1.-".charAt(random.nextInt(15));
                case 2 -> bytes = Arrays.copyOf(bytes, at + 1);
                default -> System.arraycopy(bytes, 0, bytes, at, Math.min(bytes.length - at, random.nextInt(8)));
            }
        }
        return bytes;
    }

    @Test
    void payloadsNestedTooDeeplyAreRejectedOnBothSides() {
        String deep = "[".repeat(100_000) + "]".repeat(100_000);
        Map<String, Object> endless = new HashMap<>();
        endless.put(SECRET, endless);

        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> text("{\"v\":1,\"payload\":" + deep + "}"));
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> text("{\"v\":1,\"other\":" + deep + ",\"payload\":1}"));
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.codec.readPayload(deep.getBytes(), Object.class));
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.codec.write(endless, Map.of()))
            .satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET).hasSizeLessThan(300));
    }

    @Test
    void aFailureToReadNamesTypeAndPlaceAndNeverContent() {
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> read("{\"id\":\"" + SECRET + "\"}", Order.class))
            .withMessage("The payload cannot be read as " + Order.class.getName()
                    + ": InvalidFormatException in id at line 1, column 7")
            .withNoCause();
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> read("{\"stock\":{\"" + SECRET + "\":\"x\"}}", Shop.class))
            .withMessageContaining("in stock->* at")
            .satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET));
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> read("{\"orders\":[{\"id\":{}}]}", Shop.class))
            .withMessageContaining("in orders->[0]->id at");
    }

    @Test
    void anUnknownFieldIsNotQuoted() {
        EnvelopeCodec strict = new EnvelopeCodec(
                JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build());

        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> strict.readPayload(("{\"" + SECRET + "\":1}").getBytes(), Shop.class))
            .withMessageContaining("in * at")
            .satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET));
    }

    @Test
    void anExceptionOfTheApplicationsCodeIsAConversionFailure() {
        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> read("1", Rude.class))
            .satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(SECRET))
            .withNoCause();
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.codec.write(new Rude(), Map.of()))
            .withMessage("Payload of %s cannot be written as JSON: IllegalStateException", Rude.class.getName());
    }

    @Test
    void aPayloadOfATypeThatCannotBeWrittenIsRefusedWithPlaceAndReason() {
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.codec.write(new Holder(new Endless()), Map.of()))
            .withMessage("Payload of %s cannot be written as JSON: InvalidDefinitionException in held->self: "
                    + "Direct self-reference leading to cycle", Holder.class.getName())
            .withCauseInstanceOf(InvalidDefinitionException.class);
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.codec.write(new Holder(Map.of(SECRET, List.of(new Endless()))), Map.of()))
            .withMessageContaining("InvalidDefinitionException in held->*->[0]->self: Direct self-reference")
            .satisfies((ex) -> assertThat(traceOf(ex)).doesNotContain(SECRET));
    }

    /** Other messages of Jackson may quote its input. */
    @Test
    void theErrorOfASerializerIsNotQuoted() {
        JsonMapper talkative = JsonMapper.builder()
            .addModule(new SimpleModule().addSerializer(Order.class, new Talkative()))
            .build();

        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> new EnvelopeCodec(talkative).write(new Holder(new Order(7, SECRET)), Map.of()))
            .withMessageContaining("DatabindException in held")
            .satisfies((ex) -> assertThat(traceOf(ex)).doesNotContain(SECRET));
    }

    private static String traceOf(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }

    @ParameterizedTest
    @ValueSource(classes = { ByClass.class, ByMinimalClass.class, OfClass.class, OfClassKey.class, OfJavaType.class })
    void aClassThatJsonNamesIsNotEvenLoaded(Class<?> type) {
        String lure = Lured.class.getName();
        for (String json : List.of("{'any':{'@class':'%s'}}", "{'any':{'@c':'%s'}}", "{'any':'%s'}",
                "{'any':{'%s':1}}")) {
            assertThatExceptionOfType(PayloadConversionException.class)
                .isThrownBy(() -> read(json.formatted(lure).replace('\'', '"'), type))
                .satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("Lured"))
                .withNoCause();
        }
        assertThat(System.getProperty("delayqueue.lured")).isNull();
        assertThat(read("{'any':null}".replace('\'', '"'), type)).as("it names none").isNotNull();
    }

    @Test
    void aPayloadThatNamesAClassIsRejectedWhenItIsWritten() {
        Map<Object, String> named = Map.of(new ByClass(new Child()), Child.class.getName(),
                new ByMinimalClass(new Grandchild()), Grandchild.class.getName(), new OfClass(Order.class),
                "java.lang.Class", new OfClassKey(Map.of(Order.class, 1)), "java.lang.Class");
        named.forEach((payload, type) -> assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> this.codec.write(payload, Map.of()))
            .withMessageContainingAll(payload.getClass().getName(), type, "no stored message may name a class"));
        assertThat(this.codec.write(new ByClass(null), Map.of())).as("it names none").isNotEmpty();
    }

    record Holder(Object held) {
    }

    static class Endless {

        public Endless getSelf() {
            return this;
        }

    }

    private static final class Talkative extends ValueSerializer<Order> {

        @Override
        public void serialize(Order order, JsonGenerator json, SerializationContext context) {
            throw DatabindException.from(json, "Cannot write " + order);
        }

    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    interface Open {

    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS)
    interface Near {

    }

    record Child() implements Open {
    }

    record Grandchild() implements Near {
    }

    record ByClass(@Nullable Open any) {
    }

    record ByMinimalClass(@Nullable Near any) {
    }

    record OfClass(@Nullable Class<?> any) {
    }

    record OfClassKey(@Nullable Map<Class<?>, Integer> any) {
    }

    record OfJavaType(@Nullable JavaType any) {
    }

    static final class Lured implements Open, Near {

        static {
            System.setProperty("delayqueue.lured", "true");
        }

    }

    @Test
    void aPayloadThatTurnsIntoNullIsRefusedWhenWritten() {
        EnvelopeCodec indenting = new EnvelopeCodec(
                JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build());
        for (EnvelopeCodec writer : List.of(this.codec, indenting)) {
            for (Object payload : List.of(Optional.empty(), new Silent())) {
                assertThatExceptionOfType(PayloadConversionException.class)
                    .isThrownBy(() -> writer.write(payload, Map.of()))
                    .withMessageContaining("cannot be written as JSON");
            }
            Map<String, Object> nulls = new HashMap<>();
            nulls.put("payload", null);
            assertThat(writer.write(nulls, Map.of())).isNotEmpty();
            assertThat(writer.write("null", Map.of())).isNotEmpty();
        }
        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> read("null", Order.class))
            .withMessage("The payload is null");
    }

    @Test
    void anApplicationsMapperMayIndentAndWrap() {
        EnvelopeCodec own = new EnvelopeCodec(JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT, SerializationFeature.WRAP_ROOT_VALUE)
            .enable(DeserializationFeature.UNWRAP_ROOT_VALUE)
            .build());

        Envelope read = own.read(own.write(new Order(7, "a"), Map.of("h", "v")));

        assertThat(own.readPayload(read.payload(), Order.class)).isEqualTo(new Order(7, "a"));
        assertThat(read.headers()).isEqualTo(Map.of("h", "v"));
    }

    private String text(String stored) {
        return EnvelopeCodec.text(this.codec.read(stored.getBytes(StandardCharsets.UTF_8)));
    }

    private Object read(String payload, Class<?> type) {
        return this.codec.readPayload(payload.getBytes(StandardCharsets.UTF_8), type);
    }

    record Order(int id, String name) {
    }

    record Shop(Map<String, Integer> stock, List<Order> orders) {
    }

    @JsonSerialize(using = RudeSerializer.class)
    @JsonDeserialize(using = RudeDeserializer.class)
    static class Rude {

    }

    static class RudeSerializer extends ValueSerializer<Rude> {

        @Override
        public void serialize(Rude value, JsonGenerator json, SerializationContext context) {
            throw new IllegalStateException(SECRET);
        }

    }

    static class RudeDeserializer extends ValueDeserializer<Rude> {

        @Override
        public Rude deserialize(JsonParser json, DeserializationContext context) {
            throw new IllegalStateException(SECRET);
        }

    }

    @JsonSerialize(using = SilentSerializer.class)
    static class Silent {

    }

    static class SilentSerializer extends ValueSerializer<Silent> {

        @Override
        public void serialize(Silent value, JsonGenerator json, SerializationContext context) {
        }

    }

}
