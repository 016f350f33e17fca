package io.delayqueue.listener.poll;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.delayqueue.DelayQueueHeaders;
import io.delayqueue.Delivery;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.envelope.EnvelopeCodec;
import jakarta.validation.constraints.Min;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHandlingException;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.LocalValidatorFactoryBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests the parameters that a handler method may declare, and their values. Payloads are
 * read as the declared type; an unreadable payload differs from a failure of the handler,
 * which P9 needs.
 */
@Tag("server")
class HandlerMethodAdapterTests {

    private static final Map<String, String> HEADERS = Map.of("tries", "7", "id", "sender", "timestamp", "noon");

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    private final HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter();

    private final TestBed bed = new TestBed();

    private MessageHandler handler(String name) {
        Method method = Arrays.stream(HandlerConcurrencyLimiter.class.getMethods())
            .filter((candidate) -> candidate.getName().equals(name))
            .findFirst()
            .orElseThrow();
        return handler(this.limiter, method);
    }

    private MessageHandler handler(Object bean, Method method) {
        LocalValidatorFactoryBean validator = new LocalValidatorFactoryBean();
        validator.afterPropertiesSet();
        return new HandlerMethodFactory(this.codec, validator, MessageObservations.NONE).create(bean, method, null);
    }

    private ClaimedMessage message(byte[] envelope) {
        return new ClaimedMessage(new Lease(TestBed.QUEUE, "m", "1"), ManualNanoClock.START, 2, 0, false, null, null,
                envelope);
    }

    private Delivery delivery(ClaimedMessage message) {
        long now = this.bed.clock.getAsLong();
        return new DefaultDelivery(new InFlightMessage(message,
                new InFlightMessage.Times(now, now, ManualNanoClock.START), Duration.ofSeconds(30)), this.bed.queue(),
                this.bed.context);
    }

    private CompletionStage<?> call(String name, Object payload) throws Throwable {
        ClaimedMessage message = message(this.codec.write(payload, HEADERS));
        return handler(name).prepare(message, delivery(message)).invoke(Runnable::run);
    }

    private List<Object> received(String name, Object payload) throws Throwable {
        call(name, payload);
        return this.limiter.received;
    }

    @Test
    void readsThePayloadAsWhatTheMethodDeclares() throws Throwable {
        Order order = new Order(3, "tea");
        assertThat(received("order", order)).containsExactly(order);
    }

    @Test
    void readsBeans() throws Throwable {
        Bean bean = new Bean();
        bean.name = "tea";
        assertThat(((Bean) received("bean", bean).get(0)).name).isEqualTo("tea");
    }

    @Test
    void readsTexts() throws Throwable {
        assertThat(received("text", "tea")).containsExactly("tea");
    }

    @Test
    void takesAnEmptyTextForAPayload() throws Throwable {
        assertThat(received("text", "")).containsExactly("");
    }

    @Test
    void readsPrimitives() throws Throwable {
        assertThat(received("number", 42)).containsExactly(42);
    }

    @Test
    void readsLists() throws Throwable {
        assertThat(received("orders", List.of(new Order(1, "a"), new Order(2, "b"))))
            .containsExactly(List.of(new Order(1, "a"), new Order(2, "b")));
    }

    @Test
    void readsMaps() throws Throwable {
        assertThat(received("map", Map.of("a", new Order(1, "a")))).containsExactly(Map.of("a", new Order(1, "a")));
    }

    @Test
    void readsJsonAsItIs() throws Throwable {
        assertThat(((JsonNode) received("json", new Order(3, "tea")).get(0)).get("count").asInt()).isEqualTo(3);
    }

    @Test
    void readsJsonForAnObjectParameter() throws Throwable {
        assertThat(received("anything", new Order(3, "tea")).get(0)).isInstanceOf(JsonNode.class);
        assertThat(received("anyMessage", new Order(3, "tea")).get(1)).isInstanceOf(JsonNode.class);
        assertThat(received("rawMessage", new Order(3, "tea")).get(2)).isInstanceOf(JsonNode.class);
    }

    @Test
    void readsThePayloadOfAMessageAsItsType() throws Throwable {
        assertThat(received("message", new Order(3, "tea"))).containsExactly(new Order(3, "tea"));
        assertThat(received("messageOfList", List.of(new Order(3, "tea")))).contains(List.of(new Order(3, "tea")));
    }

    @Test
    void needsNoPayload() throws Throwable {
        assertThat(received("nothing", new Order(3, "tea"))).containsExactly("called");
    }

    @Test
    void passesHeadersOfTheSenderAndItsOwn() throws Throwable {
        received("headers", "x");

        assertThat(this.limiter.received).containsExactly(7, "m", 3, ManualNanoClock.START, "orders", "sender", "none",
                Optional.empty());
    }

    @Test
    @SuppressWarnings("unchecked")
    void passesAllHeadersWithoutInventedOnes() throws Throwable {
        Map<String, Object> headers = (Map<String, Object>) received("allHeaders", "x").get(0);

        assertThat(headers).containsOnlyKeys("tries", "id", "timestamp", DelayQueueHeaders.ATTEMPT,
                DelayQueueHeaders.DUE_AT, DelayQueueHeaders.ID, DelayQueueHeaders.QUEUE);
        assertThat(((MessageHeaders) this.limiter.received.get(1)).getId()).isNull();
        assertThat(((MessageHeaders) this.limiter.received.get(1)).getTimestamp()).isNull();
    }

    @Test
    void passesTheDeliveryEvenBesideAPayloadOfAnyType() throws Throwable {
        List<Object> received = received("delivery", "x");
        assertThat(received.get(0)).isInstanceOf(JsonNode.class);
        assertThat(((Delivery) received.get(1)).attempt()).isEqualTo(3);
    }

    @Test
    void refusesAMessageWithoutARequiredHeaderBeforeTheHandler() {
        assertThatExceptionOfType(MessageHandlingException.class).isThrownBy(() -> prepare("missingHeader", "secret"))
            .satisfies((ex) -> assertThat(ex.toString()).doesNotContain("secret"));
    }

    @Test
    void refusesAHeaderThatCannotBeConvertedBeforeTheHandler() {
        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> prepare("wrongHeader", "x"))
            .withMessage("The header for parameter 1 of the handler cannot be read as int")
            .withNoCause();
    }

    /** Spring reads native headers from a header of this name. */
    @Test
    void takesAHeaderOfAnyNameForAText() throws Throwable {
        ClaimedMessage message = message(
                this.codec.write("x", Map.of("tries", "7", "id", "sender", "nativeHeaders", "text")));

        handler("headers").prepare(message, delivery(message)).invoke(Runnable::run);

        assertThat(this.limiter.received).startsWith(7, "m", 3);
    }

    @Test
    void refusesAPayloadThatIsNotValidBeforeTheHandler() throws Throwable {
        assertThat(received("valid", new Order(3, "tea"))).hasSize(1);
        assertThatExceptionOfType(MethodArgumentNotValidException.class)
            .isThrownBy(() -> prepare("valid", new Order(-4711, "secret")))
            .satisfies((ex) -> {
                assertThat(FailureSummary.line(ex)).startsWith("The payload is not valid: count ")
                    .doesNotContain("4711", "secret");
                assertThat(FailureSummary.cause(ex)).doesNotContain("4711", "secret");
            });
        assertThat(this.limiter.received).hasSize(1);
    }

    @Test
    void refusesAPayloadOfAnotherShapeBeforeTheHandler() {
        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> prepare("order", "tea"));
        assertThat(this.limiter.received).isEmpty();
    }

    @Test
    void refusesInvalidEnvelopesBeforeTheHandler() {
        ClaimedMessage message = message("tea".getBytes(StandardCharsets.UTF_8));
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> handler("nothing").prepare(message, delivery(message)));
    }

    private MessageHandler.Call prepare(String name, Object payload) throws Exception {
        ClaimedMessage message = message(this.codec.write(payload, HEADERS));
        return handler(name).prepare(message, delivery(message));
    }

    @Test
    void throwsTheExceptionOfTheMethod() {
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> call("failing", "x")).withMessage("boom");
    }

    @Test
    void returnsTheFutureOfTheMethod() throws Throwable {
        assertThat(call("future", "x").toCompletableFuture().join()).isEqualTo("done");
        assertThat(call("order", new Order(1, "x"))).isNull();
    }

    @Test
    void readsTheTypeThatASubclassGivesToATypeVariable() throws Throwable {
        OrderHandler bean = new OrderHandler();
        ClaimedMessage message = message(this.codec.write(new Order(3, "tea"), Map.of()));
        handler(bean, Base.class.getMethod("handle", Object.class)).prepare(message, delivery(message))
            .invoke(Runnable::run);

        assertThat(bean.received).isEqualTo(new Order(3, "tea"));
    }

    @Test
    void callsStaticMethods() throws Throwable {
        call("ofTheClass", "x");
    }

    @Test
    void refusesSignaturesThatCannotWork() {
        refused("twoPayloads", "at most one parameter for the payload").contains("String").contains("Order");
        refused("returning", "returns void, a CompletionStage, or a type of one value").contains("java.lang.String");
        refused("headersNoMap", "@Headers must be a Map");
        refused("messageSubclass", "must be declared as org.springframework.messaging.Message");
        refused("accessor", "use MessageHeaders");
        refused("expression", "@Payload with an expression").contains("name");
        refused("disagreeing", "different types").contains("Order").contains("String");
    }

    private AbstractStringAssert<?> refused(String name, String rule) {
        String[] message = new String[1];
        assertThatIllegalArgumentException().isThrownBy(() -> handler(name))
            .withMessageContaining(rule)
            .satisfies((ex) -> message[0] = ex.getMessage());
        return assertThat(message[0]);
    }

    record Order(@Min(1) int count, String name) {
    }

    static class Bean {

        public String name;

    }

    static class Base<T> {

        Object received;

        public void handle(T payload) {
            this.received = payload;
        }

    }

    static class OrderHandler extends Base<Order> {

    }

    static class HandlerConcurrencyLimiter {

        final List<Object> received = new ArrayList<>();

        public void order(Order order) {
            this.received.add(order);
        }

        public void bean(Bean bean) {
            this.received.add(bean);
        }

        public void text(String text) {
            this.received.add(text);
        }

        public void number(int number) {
            this.received.add(number);
        }

        public void orders(@Payload List<Order> orders) {
            this.received.add(orders);
        }

        public void map(Map<String, Order> orders) {
            this.received.add(orders);
        }

        public void json(JsonNode json) {
            this.received.add(json);
        }

        public void anything(Object payload) {
            this.received.add(payload);
        }

        public void anyMessage(Message<?> message) {
            this.received.add(message.getPayload());
        }

        @SuppressWarnings("rawtypes")
        public void rawMessage(Message message) {
            this.received.add(message.getPayload());
        }

        public void message(Message<Order> message) {
            Order order = message.getPayload();
            this.received.add(order);
        }

        public void messageOfList(Message<List<Order>> message) {
            this.received.add(message.getPayload());
        }

        public void nothing() {
            this.received.add("called");
        }

        public void headers(@Header int tries, @Header(DelayQueueHeaders.ID) String id,
                @Header(DelayQueueHeaders.ATTEMPT) int attempt, @Header(DelayQueueHeaders.DUE_AT) Instant dueAt,
                @Header(DelayQueueHeaders.QUEUE) String queue, @Header("id") String sendersId,
                @Header(name = "absent", defaultValue = "none") String absent,
                @Header(name = "other", required = false) Optional<UUID> other) {
            this.received.addAll(List.of(tries, id, attempt, dueAt, queue, sendersId, absent, other));
        }

        public void allHeaders(@Headers Map<String, Object> headers, MessageHeaders same) {
            this.received.add(headers);
            this.received.add(same);
        }

        public void delivery(Object payload, Delivery delivery) {
            this.received.add(payload);
            this.received.add(delivery);
        }

        public void missingHeader(String payload, @Header("absent") String absent) {
        }

        public void wrongHeader(@Header("timestamp") int number) {
        }

        public void valid(@Validated Order order) {
            this.received.add(order);
        }

        public void failing(String text) throws IOException {
            throw new IOException("boom");
        }

        public CompletableFuture<String> future(String text) {
            return CompletableFuture.completedFuture("done");
        }

        public static void ofTheClass(String text) {
        }

        public void twoPayloads(String one, Order other) {
        }

        public String returning(String payload) {
            return payload;
        }

        public void headersNoMap(@Headers String headers) {
        }

        public void messageSubclass(GenericMessage<Order> message) {
        }

        public void accessor(MessageHeaderAccessor accessor) {
        }

        public void expression(@Payload("name") String name) {
        }

        public void disagreeing(Order order, Message<String> message) {
        }

    }

}
