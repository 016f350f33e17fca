package io.delayqueue.depot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests the forwarding of due messages to a broker of AMQP 0-9-1, as RabbitMQ is. */
@Tag("server")
@ParameterizedClass
@EnumSource
@ExtendWith(OutputCaptureExtension.class)
class AmqpForwardTests extends DepotTestBase {

    private final AmqpBroker broker;

    private final String exchange = "exchange-" + UUID.randomUUID();

    private String timeout = "1s";

    private final AmqpBroker.Product product;

    private final String target = "queue-" + UUID.randomUUID();

    AmqpForwardTests(AmqpBroker.Product product) {
        this.product = product;
        this.broker = product.shared();
    }

    @BeforeEach
    void declare() {
        this.broker.declareQueue(this.target, this.exchange, "created");
    }

    @AfterEach
    void connect() {
        this.broker.proxy().pass();
    }

    private void start(String routingKey, String... settings) {
        start(this.exchange, routingKey, settings);
    }

    private void start(String exchange, String routingKey, String[] settings) {
        List<String> all = new ArrayList<>(this.broker.settings());
        all.add("--delayqueue.forward.orders.to=rabbit:" + exchange + "/" + routingKey);
        all.add("--delayqueue.forward.orders.timeout=" + this.timeout);
        all.addAll(List.of(settings));
        start(Depot.class, all.toArray(String[]::new));
    }

    private List<String> takeIds() {
        return this.broker.take(this.target)
            .stream()
            .map((message) -> message.getMessageProperties().getMessageId())
            .toList();
    }

    @Test
    void aDueMessageIsPublishedWithItsPropertiesAndHeaders() {
        start("created");

        queue().send(DelayedMessage.builder(QUEUE, "content")
            .id("order-1")
            .group("customer-7")
            .header("tag", "gold")
            .delay(Duration.ofMillis(300))
            .build());

        assertAllForwarded();
        List<Message> messages = this.broker.take(this.target);
        assertThat(messages).hasSize(1);
        assertThat(messages.get(0).getBody()).asString().isEqualTo("\"content\"");
        MessageProperties properties = messages.get(0).getMessageProperties();
        assertThat(properties.getMessageId()).isEqualTo("order-1");
        assertThat(properties.getContentType()).isEqualTo("application/json");
        assertThat(properties.getHeaders()).containsEntry("delayqueue-id", "order-1")
            .containsEntry("delayqueue-queue", QUEUE)
            .containsEntry("delayqueue-group", "customer-7")
            .containsEntry("delayqueue-attempt", "1")
            .containsEntry("tag", "gold")
            .containsKey("delayqueue-due");
    }

    /** Without a queue the broker confirms the message as well, and drops it. */
    @Test
    void anUnroutableMessageIsDeadLetteredAtOnceWithTheCause() {
        start("unknown");

        queue().send(QUEUE, "lost", "content", Duration.ZERO);

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).dead() == 1);
        assertThat(queue().deadLetters(QUEUE).list(null, 10).deadLetters().get(0)).satisfies((letter) -> {
            assertThat(letter.messageId()).isEqualTo("lost");
            assertThat(letter.failures()).isOne();
            assertThat(letter.cause())
                .contains("Exchange '%s' has no queue for routing key 'unknown'".formatted(this.exchange))
                .contains("(312)");
        });
    }

    /**
     * It would otherwise be the first one again after each attempt, and stop the queue.
     */
    @Test
    void aMessageThatTheClientCannotWriteIsDeadLettered() {
        start("created");
        // Names in AMQP have at most 255 bytes.
        queue().send(DelayedMessage.builder(QUEUE, "long").id("long").header("\u540d".repeat(128), "x").build());
        queue().send(QUEUE, "other", "content", Duration.ZERO);

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).dead() == 1);
        assertThat(queue().deadLetters(QUEUE).list(null, 10).deadLetters().get(0)).satisfies((letter) -> {
            assertThat(letter.messageId()).isEqualTo("long");
            assertThat(letter.failures()).isOne();
            assertThat(letter.cause()).contains("A header has a name of 384 bytes, and at most 255 are possible");
        });
        await().atMost(LIMIT).untilAsserted(() -> assertThat(takeIds()).containsExactly("other"));
    }

    /**
     * The client cannot write the name of the host either, which concerns all messages.
     */
    @Test
    void aConnectionThatIsNotPossibleCostsNoAttempt(CapturedOutput output) {
        start("created", "--spring.rabbitmq.virtual-host=" + "v".repeat(300));

        queue().send(QUEUE, "waits", "content", Duration.ZERO);

        await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
        assertThat(queue().statistics(QUEUE).dead()).isZero();
        assertThat(queue().find(QUEUE, "waits")).isPresent();
    }

    /** Qpid takes larger frames. */
    @Test
    void headersAboveAFrameAreDeadLettered() {
        assumeThat(this.product).isEqualTo(AmqpBroker.Product.RABBITMQ);
        start("created");

        queue().send(DelayedMessage.builder(QUEUE, "content")
            .id("large")
            .header("a", "x".repeat(100_000))
            .header("b", "x".repeat(100_000))
            .build());

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).dead() == 1);
        assertThat(queue().deadLetters(QUEUE).list(null, 10).deadLetters().get(0).cause())
            .contains("Exchange '%s' does not accept the message".formatted(this.exchange));
    }

    /**
     * To RabbitMQ these headers are routing keys, and a text there closes the channel.
     */
    @Test
    void aSenderCannotAddRoutes() {
        start("created");

        queue().send(DelayedMessage.builder(QUEUE, "content").id("1").header("CC", "a").header("BCC", "b").build());

        assertAllForwarded();
        assertThat(this.broker.take(this.target)).singleElement()
            .satisfies((message) -> assertThat(message.getMessageProperties().getHeaders()).doesNotContainKeys("CC",
                    "BCC"));
    }

    @Test
    void aBrokerThatIsAwayCostsNoAttemptAndNoOrder(CapturedOutput output) {
        costsNothing(TcpProxy::refuse, output);
    }

    @Test
    @Tag("matrix")
    void aBrokerThatHangsCostsNoAttemptAndNoOrder(CapturedOutput output) {
        costsNothing(TcpProxy::blackhole, output);
    }

    private void costsNothing(Consumer<TcpProxy> outage, CapturedOutput output) {
        this.timeout = "10s"; // a slow broker is not away
        start("created", "--delayqueue.listener.max-attempts=1", LOG_PROBES);
        queue().send(QUEUE, "before");
        assertAllForwarded();

        outage.accept(this.broker.proxy());
        sendGroups(5, 20);
        await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
        await().atMost(LIMIT).until(() -> count(output, STILL_AWAY) > 0);
        assertThat(queue().statistics(QUEUE).dead()).isZero();
        this.broker.proxy().pass();

        assertAllForwarded();
        assertGroups(takeIds(), 5, 20);
        assertThat(count(output, AWAY)).isOne();
        assertThat(count(output, BACK)).isOne();
    }

    @Test
    @Tag("matrix")
    void forwardingContinuesWithTheFirstProbeAfterTheReturnOfTheBroker(CapturedOutput output) {
        this.timeout = "15s"; // the default
        start("created", LOG_PROBES);

        assertBackWithTheNextProbe(this.broker.proxy(), output);
    }

    @Test
    @Tag("matrix")
    void aSlowBrokerDelaysMessagesAndRepeatsNone() {
        this.timeout = "1m";
        start("created");
        this.broker.proxy().delay(Duration.ofMillis(100));

        sendGroups(10, 3);

        assertAllForwarded();
        assertThat(takeIds()).hasSize(30).doesNotHaveDuplicates();
    }

    /** The message was published, and only its confirmation is lost. */
    @Test
    void aLostConfirmationRepeatsTheMessageWithItsId() {
        start("created");
        sendGroups(1, 1);
        assertAllForwarded();
        this.broker.proxy().loseReplyTo("lost-1");

        queue().send(QUEUE, "lost-1", "content", Duration.ZERO);

        await().atMost(LIMIT).until(() -> !this.broker.proxy().isLossPending());
        assertAllForwarded();
        // More often if the broker takes longer than the time limit to confirm.
        List<String> ids = takeIds();
        assertThat(ids.stream().distinct()).containsExactly("g0-000", "lost-1");
        assertThat(ids).filteredOn("lost-1"::equals).hasSizeGreaterThan(1);
    }

    /** An exchange that does not exist yet is no fault of the message. */
    @Test
    void messagesForAMissingExchangeWaitUntilItExists(CapturedOutput output) {
        String later = "later-" + UUID.randomUUID();
        start(later, "created", new String[0]);
        sendGroups(2, 2);
        await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
        assertThat(queue().statistics(QUEUE).dead()).isZero();

        this.broker.declareQueue(this.target, later, "created");

        assertAllForwarded();
        assertGroups(takeIds(), 2, 2);
    }

    /**
     * RabbitMQ accepts data from a connection that it has blocked, and handles it once
     * the alarm is over. So a message that is published again and again would arrive as
     * often.
     */
    @Test
    @Tag("matrix")
    void aMemoryAlarmCausesNoCopyForEachProbe(CapturedOutput output) {
        assumeTrue(this.broker.server() instanceof RabbitMqServer, "Only RabbitMQ has alarms");
        RabbitMqServer server = (RabbitMqServer) this.broker.server();
        start("created", "--delayqueue.listener.max-attempts=1");
        queue().send(QUEUE, "before");
        assertAllForwarded();
        server.memoryAlarm(true);
        try {
            queue().send(QUEUE, "head", "content", Duration.ZERO);
            await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
            // Real time: the alarm lasts for several probes.
            await().pollDelay(Duration.ofSeconds(15)).atMost(LIMIT).until(() -> true);
        }
        finally {
            server.memoryAlarm(false);
        }

        assertAllForwarded();
        List<String> ids = takeIds();
        assertThat(ids.stream().filter("head"::equals).count()).isBetween(1L, 2L);
        assertThat(count(output, BACK)).isOne();
    }

}
