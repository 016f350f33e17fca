package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.core.Queue;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the scheduling of delayed messages of a broker of AMQP 0-9-1. */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class AmqpIntakeTests extends DepotTestBase {

    private final AmqpBroker broker = AmqpBroker.SHARED;

    private final String source = "late-" + UUID.randomUUID();

    @BeforeEach
    void declare() {
        // Qpid delivers a rejected message again, as often as this says.
        this.broker
            .declareQueue(new Queue(this.source, true, false, false, Map.of("x-qpid-maximum-delivery-count", 1)));
    }

    private void start(String... settings) {
        List<String> all = new ArrayList<>(this.broker.settings());
        all.add("--delayqueue.intake.rabbit[" + this.source + "].to=" + QUEUE);
        all.add("--delayqueue.command-timeout=1s");
        all.addAll(List.of(settings));
        start(Depot.class, all.toArray(String[]::new));
    }

    private void publish(String messageId, String payload, Map<String, ?> headers) {
        MessageProperties properties = new MessageProperties();
        properties.setMessageId(messageId);
        headers.forEach(properties::setHeader);
        this.broker.send(this.source, new Message(payload.getBytes(StandardCharsets.UTF_8), properties));
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
        start();
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

    /** A delivery without a delay would otherwise be lost silently. */
    @Test
    void messagesWithoutAValidDelayAreRejectedAndLogged(CapturedOutput output) {
        start();
        publish("none", "1", Map.of());
        publish("invalid", "1", Map.of("delayqueue-delay", "soon"));
        publish("valid", "1", Map.of("delayqueue-delay", "PT1H"));

        await().atMost(LIMIT).until(() -> queue().find(QUEUE, "valid").isPresent());
        assertThat(queue().statistics(QUEUE).scheduled()).isOne();
        assertThat(count(output, "is rejected, as it has no header 'delayqueue-due' or 'delayqueue-delay'")).isOne();
        assertThat(count(output, "must be in ISO 8601")).isOne();
        stopApplication();
        assertThat(this.broker.take(this.source)).isEmpty();
    }

}
