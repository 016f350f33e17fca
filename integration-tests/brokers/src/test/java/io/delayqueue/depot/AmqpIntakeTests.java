package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import com.rabbitmq.client.impl.LongStringHelper;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.intake.IntakeOutcome;
import io.delayqueue.intake.IntakeScheduler;
import io.delayqueue.intake.RabbitIntake;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.core.Queue;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests the scheduling of delayed messages of a broker of AMQP 0-9-1. */
@Tag("server")
@ParameterizedClass
@EnumSource
@ExtendWith(OutputCaptureExtension.class)
class AmqpIntakeTests extends DepotTestBase {

    private final AmqpBroker broker;

    private final String source = "late-" + UUID.randomUUID();

    AmqpIntakeTests(AmqpBroker.Product product) {
        this.broker = product.shared();
    }

    @BeforeEach
    void declare() {
        // Qpid delivers a rejected message again, as often as this says.
        this.broker
            .declareQueue(new Queue(this.source, true, false, false, Map.of("x-qpid-maximum-delivery-count", 1)));
    }

    private void start(String... settings) {
        startWith("10s", settings);
    }

    private void startWith(String commandTimeout, String... settings) {
        List<String> all = new ArrayList<>(this.broker.settings());
        all.add("--delayqueue.intake.rabbit[" + this.source + "].to=" + QUEUE);
        all.add("--delayqueue.command-timeout=" + commandTimeout);
        all.addAll(List.of(settings));
        start(Depot.class, all.toArray(String[]::new));
    }

    private void publish(@Nullable String messageId, String payload, Map<String, ?> headers) {
        publishTo(this.source, messageId, payload, headers);
    }

    private void publishTo(String queue, @Nullable String messageId, String payload, Map<String, ?> headers) {
        MessageProperties properties = new MessageProperties();
        properties.setMessageId(messageId);
        headers.forEach(properties::setHeader);
        this.broker.send(queue, new Message(payload.getBytes(StandardCharsets.UTF_8), properties));
    }

    /** The message with the same id was redelivered, or published twice. */
    @Test
    void aMessageWithADelayIsScheduledOnceAndForwarded() {
        String target = "target-" + UUID.randomUUID();
        this.broker.declareQueue(new Queue(target));
        start("--delayqueue.forward.orders.to=rabbit:/" + target);
        publish("order-1", "{\"total\":1}", Map.of("delayqueue-delay", 3_600_000, "tag", "gold"));
        publish("order-1", "{\"total\":2}", Map.of("delayqueue-delay", 3_600_000));
        publish("last", "1", Map.of("delayqueue-delay", "PT1H"));
        await().atMost(LIMIT).until(() -> queue().find(QUEUE, "last").isPresent());
        assertThat(queue().statistics(QUEUE).scheduled()).isEqualTo(2);

        queue().reschedule(QUEUE, "order-1", Duration.ZERO);
        queue().cancel(QUEUE, "last");

        assertAllForwarded();
        List<Message> taken = this.broker.take(target);
        assertThat(taken).hasSize(1);
        assertThat(taken.get(0).getBody()).asString().isEqualTo("{\"total\":1}");
        assertThat(taken.get(0).getMessageProperties().getMessageId()).isEqualTo("order-1");
        assertThat(taken.get(0).getMessageProperties().getHeaders()).containsEntry("tag", "gold");
    }

    /** Deliveries are acknowledged only once Redis has the messages. */
    @Test
    void messagesWaitInTheBrokerWhileRedisIsAway(CapturedOutput output) {
        startWith("2s");
        redis.kill();
        for (int i = 0; i < 10; i++) {
            publish("during-" + i, "1", Map.of("delayqueue-delay", "PT1H"));
        }
        await().atMost(LIMIT).until(() -> count(output, "cannot be scheduled in queue 'orders'") == 1);
        stopApplication();
        redis.restart();
        start();

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).scheduled() == 10);
        stopApplication();
        assertThat(this.broker.take(this.source)).isEmpty();
    }

    /** A broker drops what is rejected, unless the queue has a dead-letter exchange. */
    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void aMessageThatCannotBeScheduledStaysInTheBroker(boolean delayed, CapturedOutput output) {
        start();
        publish("invalid", "1", delayed ? Map.of("delayqueue-delay", "soon") : Map.of());
        publish("valid", "1", Map.of("delayqueue-delay", "PT1H"));

        await().atMost(LIMIT).until(() -> count(output, "reject-invalid to true") == 1);
        // Real time: neither message is handled, or logged again.
        await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
        assertThat(queue().statistics(QUEUE).scheduled()).isZero();
        assertThat(count(output, "cannot be scheduled in queue 'orders'")).isOne();
        assertThat(intake().problem().text()).startsWith("a consumer has stopped at a message");
        assertThat(intake().scheduler().count(IntakeOutcome.INVALID)).isOne();
        stopApplication();
        assertThat(this.broker.take(this.source))
            .anyMatch((message) -> message.getMessageProperties().getMessageId().equals("invalid"));
    }

    @Test
    void messagesThatCannotBeScheduledAreRejectedIfThatIsConfigured(CapturedOutput output) {
        start("--delayqueue.intake.rabbit[" + this.source + "].reject-invalid=true");
        for (int i = 0; i < 50; i++) {
            publish("none", "1", Map.of());
        }
        publish("valid", "1", Map.of("delayqueue-delay", "PT1H"));

        await().atMost(LIMIT).until(() -> queue().find(QUEUE, "valid").isPresent());
        assertThat(queue().statistics(QUEUE).scheduled()).isOne();
        assertThat(count(output, "it has no header 'delayqueue-due' or 'delayqueue-delay'")).isEqualTo(10);
        stopApplication();
        assertThat(this.broker.take(this.source)).isEmpty();
    }

    /** The answer to the first attempt was lost, so its effect is not known. */
    @Test
    void allAttemptsWithADeliveryWithoutIdHaveOneId() {
        List<String> sent = new CopyOnWriteArrayList<>();
        DelayQueueOperations lossy = mock(DelayQueueOperations.class);
        given(lossy.send(any(DelayedMessage.class))).willAnswer((call) -> {
            String id = call.<DelayedMessage>getArgument(0).id().orElseThrow();
            sent.add(id);
            if (sent.size() == 1) {
                throw new StoreUnavailableException("No answer", DelayQueueException.Effect.UNKNOWN, null);
            }
            return new SendResult(QUEUE, id, null, SendOutcome.KEPT);
        });
        publish(null, "1", Map.of("delayqueue-delay", "PT1H"));
        RabbitIntake intake = intakeOf(this.source, lossy);
        intake.start();
        try {
            await().atMost(LIMIT).until(() -> sent.size() == 2);
        }
        finally {
            intake.stop();
        }
        assertThat(sent.get(1)).isEqualTo(sent.get(0));
    }

    /**
     * The broker delivers it again, possibly to another process, whose message may have
     * been handled when Redis is back here.
     */
    @Test
    void aDeliveryIsNotScheduledOnceItsChannelIsClosed() {
        String queue = "late-" + UUID.randomUUID();
        this.broker.declareQueue(new Queue(queue));
        Set<String> tried = ConcurrentHashMap.newKeySet();
        List<String> stored = new CopyOnWriteArrayList<>();
        AtomicBoolean away = new AtomicBoolean(true);
        DelayQueueOperations operations = mock(DelayQueueOperations.class);
        given(operations.send(any(DelayedMessage.class))).willAnswer((call) -> {
            String id = call.<DelayedMessage>getArgument(0).id().orElseThrow();
            tried.add(id);
            if (away.get()) {
                throw new StoreUnavailableException("No answer", DelayQueueException.Effect.NONE, null);
            }
            stored.add(id);
            return new SendResult(QUEUE, id, null, SendOutcome.SCHEDULED);
        });
        publishTo(queue, null, "1", Map.of("delayqueue-delay", "PT1H"));
        RabbitIntake intake = intakeOf(queue, operations);
        intake.start();
        try {
            await().atMost(LIMIT).until(() -> tried.size() == 1);
            String first = tried.iterator().next();
            this.broker.connections().resetConnection();

            // The only consumer has given up the first delivery, and has the second one.
            await().atMost(LIMIT).until(() -> tried.size() == 2);
            away.set(false);
            await().atMost(LIMIT).until(() -> !stored.isEmpty());
            assertThat(stored).hasSize(1).doesNotContain(first);
        }
        finally {
            intake.stop();
        }
    }

    /** Spring ends the process by default, and with it all other work. */
    @Test
    @Tag("matrix")
    void anErrorOfTheJvmEndsTheIntakeAndNotTheProcess() {
        DelayQueueOperations broken = mock(DelayQueueOperations.class);
        given(broken.send(any(DelayedMessage.class))).willThrow(new OutOfMemoryError("test"));
        publish("order-1", "1", Map.of("delayqueue-delay", "PT1H"));
        RabbitIntake intake = intakeOf(this.source, broken);
        intake.start();
        try {
            await().atMost(LIMIT).until(() -> intake.status().problem() != null);
            assertThat(intake.status().running()).isFalse();
            assertThat(intake.status().problem()).contains("its consumers have stopped")
                .contains("OutOfMemoryError: test");
        }
        finally {
            intake.stop();
        }
        assertThat(intake.status().problem()).isNull();
    }

    /** Some clients write an empty id; it must not make all messages the same one. */
    @ParameterizedTest
    @ValueSource(strings = { "", " " })
    void messagesWithAnEmptyMessageIdAreDifferentMessages(String messageId) {
        start();
        publish(messageId, "1", Map.of("delayqueue-delay", "PT1H"));
        publish(messageId, "2", Map.of("delayqueue-delay", "PT1H"));

        await().atMost(LIMIT).until(() -> intake().scheduler().count(IntakeOutcome.SCHEDULED) == 2);
        assertThat(queue().statistics(QUEUE).scheduled()).isEqualTo(2);
    }

    /** A password that is wrong must not end the intake until a restart. */
    @Test
    void anIntakeContinuesOnceItsPasswordIsCorrected() {
        String user = "user-" + UUID.randomUUID();
        this.broker.server().addUser(user, "later");
        publish("order-1", "1", Map.of("delayqueue-delay", "PT1H"));
        start("--spring.rabbitmq.username=" + user, "--spring.rabbitmq.password=secret");
        await().atMost(LIMIT).until(() -> intake().problem() != null);
        assertThat(intake().problem().text()).startsWith("RabbitMQ cannot be read from: ");
        assertThat(queue().find(QUEUE, "order-1")).isEmpty();

        this.broker.server().changePassword(user, "secret");

        await().atMost(LIMIT).until(() -> queue().find(QUEUE, "order-1").isPresent());
        assertThat(intake().problem()).isNull();
    }

    /** Nothing is lost, and the outage shows. */
    @Test
    void messagesAreReadOnceTheBrokerIsBack() {
        start();
        publish("before", "1", Map.of("delayqueue-delay", "PT1H"));
        await().atMost(LIMIT).until(() -> queue().find(QUEUE, "before").isPresent());
        this.broker.proxy().refuse();
        try {
            await().atMost(LIMIT).until(() -> intake().problem() != null);
        }
        finally {
            this.broker.proxy().pass();
        }
        publish("after", "1", Map.of("delayqueue-delay", "PT1H"));

        await().atMost(LIMIT).until(() -> queue().find(QUEUE, "after").isPresent());
        await().atMost(LIMIT).until(() -> intake().problem() == null);
    }

    @Test
    void headersOfAllTypesAreKept() {
        String target = "target-" + UUID.randomUUID();
        this.broker.declareQueue(new Queue(target));
        start("--delayqueue.forward.orders.to=rabbit:/" + target);
        byte[] binary = { (byte) 0xFF, 0, 1 };
        publish("order-1", "1", Map.of("delayqueue-due", new Date(0), "long", "x".repeat(3000), "number", 7, "binary",
                binary, "text", "\u00e4".getBytes(StandardCharsets.UTF_8), "time", new Date(1000)));

        assertAllForwardedOf(1);
        List<Message> taken = this.broker.take(target);
        assertThat(taken).hasSize(1);
        Map<String, Object> headers = taken.get(0).getMessageProperties().getHeaders();
        assertThat(headers.get("long")).hasToString("x".repeat(3000));
        assertThat(headers).containsEntry("number", "7")
            .containsEntry("binary", binary)
            .containsEntry("text", "\u00e4")
            .containsEntry("time", "1970-01-01T00:00:01Z");
    }

    /** Clients other than Java write bytes and texts with the same type. */
    @Test
    void aHeaderOfBytesInALongStringIsKept() {
        String target = "target-" + UUID.randomUUID();
        this.broker.declareQueue(new Queue(target));
        start("--delayqueue.forward.orders.to=rabbit:/" + target);
        byte[] binary = { (byte) 0xFF, 0, 1 };
        byte[] text = "\u00e4".getBytes(StandardCharsets.UTF_8);
        publish("order-1", "1", Map.of("delayqueue-delay", "PT0.1S", "signature", LongStringHelper.asLongString(binary),
                "text", LongStringHelper.asLongString(text)));

        assertAllForwardedOf(1);
        List<Message> taken = this.broker.take(target);
        assertThat(taken).hasSize(1);
        assertThat(taken.get(0).getMessageProperties().getHeaders()).containsEntry("signature", binary)
            .containsEntry("text", "\u00e4");
        assertThat(taken.get(0).getMessageProperties().getMessageId()).isEqualTo("order-1");
    }

    private RabbitIntake intakeOf(String queue, DelayQueueOperations operations) {
        return new RabbitIntake(this.broker.connections(), queue, 1, false, new IntakeScheduler(queue,
                new QueueName(QUEUE), new EnvelopeCodec(JsonMapper.shared()), operations, System::nanoTime));
    }

    private void assertAllForwardedOf(int messages) {
        await().atMost(LIMIT).until(() -> listener().statistics().handled() == messages);
    }

}
