package io.delayqueue.forward;

import java.io.EOFException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueForwardAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration;
import io.delayqueue.listener.DelayedListenerEndpoint;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.template.DelayQueueTemplate;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.amqp.AmqpConnectException;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandlingException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** Tests the settings of forwards, and those targets that need no broker. */
class ForwardConfigurationTests {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final List<ForwardedMessage> forwarded = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueForwardAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory", "delayqueue.listener.backoff.initial=1ms");

    private static ListenerStatistics statistics(ApplicationContext context) {
        return context.getBean(DelayedListenerRegistry.class).require("forward.orders").statistics();
    }

    private static void send(ApplicationContext context) {
        context.getBean(DelayQueueTemplate.class).send("orders", "1", "content", Duration.ZERO);
    }

    private ApplicationContextRunner forwarding(Supplier<CompletableFuture<?>> answer) {
        return this.application.withPropertyValues("delayqueue.forward.orders.to=bean:broker")
            .withBean("broker", MessageForwarder.class, () -> (message) -> {
                this.forwarded.add(message);
                return answer.get();
            });
    }

    @Test
    void aMessageIsAcknowledgedOnlyOnceItsForwarderConfirmsIt() {
        CompletableFuture<Object> confirmation = new CompletableFuture<>();
        forwarding(() -> confirmation).run((context) -> {
            send(context);
            await().atMost(LIMIT).until(() -> this.forwarded.size() == 1);
            assertThat(context.getBean(DelayQueueTemplate.class).statistics("orders").leased()).isOne();

            confirmation.complete(null);
            await().atMost(LIMIT).until(() -> statistics(context).handled() == 1);
        });
    }

    /** The timeout of handlers would count an attempt. */
    @Test
    void aForwarderThatDoesNotConfirmUsesNoAttempt() {
        forwarding(CompletableFuture::new)
            .withPropertyValues("delayqueue.forward.orders.timeout=100ms", "delayqueue.listener.timeout=10ms",
                    "delayqueue.listener.max-attempts=1")
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> this.forwarded.size() == 2);
                assertThat(this.forwarded).extracting(ForwardedMessage::attempt).containsOnly(1);
                assertThat(statistics(context).failed() + statistics(context).deadLettered()).isZero();
            });
    }

    @Test
    void anotherFailureIsAnAttempt() {
        forwarding(() -> CompletableFuture.failedFuture(new IllegalStateException("broken")))
            .withPropertyValues("delayqueue.listener.max-attempts=2")
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> statistics(context).deadLettered() == 1);
                assertThat(this.forwarded).extracting(ForwardedMessage::attempt).containsExactly(1, 2);
            });
    }

    @Test
    void anUndeliverableMessageIsDeadLetteredAtOnce() {
        forwarding(() -> CompletableFuture.failedFuture(new UndeliverableMessageException("no route", null)))
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> statistics(context).deadLettered() == 1);
                assertThat(this.forwarded).hasSize(1);
            });
    }

    @Test
    void aChannelIsRefusedUnlessItsMessagesMayBeUnconfirmed() {
        this.application.withBean("shipping", MessageChannel.class, () -> (message, timeout) -> true)
            .withPropertyValues("delayqueue.forward.orders.to=channel:shipping")
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("delayqueue.forward.orders.to is 'channel:shipping'")
                .hasMessageContaining("a message channel confirms nothing")
                .hasMessageContaining("'unconfirmed'"));
    }

    @Test
    void aChannelThatAcceptsNothingUsesNoAttempt() {
        List<Message<?>> sent = new CopyOnWriteArrayList<>();
        this.application.withBean("shipping", MessageChannel.class, () -> (message, timeout) -> {
            sent.add(message);
            return sent.size() > 1;
        })
            .withPropertyValues("delayqueue.forward.orders.to=channel:shipping",
                    "delayqueue.forward.orders.unconfirmed=true", "delayqueue.listener.max-attempts=1")
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> statistics(context).handled() == 1);
                assertThat(sent).hasSize(2).allSatisfy((message) -> {
                    assertThat(new String((byte[]) message.getPayload(), StandardCharsets.UTF_8))
                        .isEqualTo("\"content\"");
                    assertThat(message.getHeaders()).containsEntry("delayqueue-id", "1")
                        .containsEntry("delayqueue-attempt", "1")
                        .containsEntry("contentType", "application/json");
                });
            });
    }

    /** The application decides only whether messages may be lost behind the channel. */
    @ParameterizedTest
    @MethodSource
    void aBrokerBehindAChannelThatIsAwayUsesNoAttempt(RuntimeException failure) {
        List<Message<?>> sent = new CopyOnWriteArrayList<>();
        this.application.withBean("shipping", MessageChannel.class, () -> (message, timeout) -> {
            sent.add(message);
            if (sent.size() == 1) {
                throw new MessageHandlingException(message, "failed", failure);
            }
            return true;
        })
            .withPropertyValues("delayqueue.forward.orders.to=channel:shipping",
                    "delayqueue.forward.orders.unconfirmed=true", "delayqueue.listener.max-attempts=1")
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> statistics(context).handled() == 1);
                assertThat(sent).hasSize(2)
                    .allSatisfy((message) -> assertThat(message.getHeaders()).containsEntry("delayqueue-attempt", "1"));
            });
    }

    static Stream<RuntimeException> aBrokerBehindAChannelThatIsAwayUsesNoAttempt() {
        return Stream.of(new UncheckedIOException(new ConnectException("refused")),
                new AmqpConnectException(new IllegalStateException("closed")),
                new KafkaException("failed", new TimeoutException("not acknowledged")),
                new BrokerUnavailableException("reported by a handler of the channel", null));
    }

    @Test
    void aFailureOfAChannelThatConcernsTheMessageIsAnAttempt() {
        this.application.withBean("shipping", MessageChannel.class, () -> (message, timeout) -> {
            throw new MessageHandlingException(message, "failed", new EOFException("not complete"));
        })
            .withPropertyValues("delayqueue.forward.orders.to=channel:shipping",
                    "delayqueue.forward.orders.unconfirmed=true", "delayqueue.listener.max-attempts=2")
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> statistics(context).deadLettered() == 1);
            });
    }

    /**
     * A channel with a buffer that is full would otherwise block its thread without
     * limit.
     */
    @Test
    void aChannelGetsTheTimeoutOfItsForward() {
        List<Long> timeouts = new CopyOnWriteArrayList<>();
        this.application.withBean("shipping", MessageChannel.class, () -> (message, timeout) -> timeouts.add(timeout))
            .withPropertyValues("delayqueue.forward.orders.to=channel:shipping",
                    "delayqueue.forward.orders.unconfirmed=true", "delayqueue.forward.orders.timeout=3s")
            .run((context) -> {
                send(context);
                await().atMost(LIMIT).until(() -> statistics(context).handled() == 1);
                assertThat(timeouts).containsExactly(3000L);
            });
    }

    private ApplicationContextRunner forwardingToKafka(Map<String, Object> configuration) {
        Map<String, Object> all = new HashMap<>(Map.of("bootstrap.servers", "127.0.0.1:1"));
        all.putAll(configuration);
        return this.application.withBean(ProducerFactory.class, () -> new DefaultKafkaProducerFactory<>(all))
            .withPropertyValues("delayqueue.forward.orders.to=kafka:orders");
    }

    /**
     * It would otherwise fail at the first message, and look as if the broker was away.
     */
    @Test
    void aProducerThatCannotBeCreatedFailsTheStart() {
        forwardingToKafka(Map.of("delivery.timeout.ms", 1000, "linger.ms", 5000))
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("delayqueue.forward.orders.to is 'kafka:orders'")
                .hasMessageContaining("delivery.timeout.ms"));
    }

    /** A name may be resolved once the broker is deployed. */
    @ParameterizedTest
    @CsvSource({ "retries, 0", "max.in.flight.requests.per.connection, 10", "acks, 1",
            "bootstrap.servers, no-such-host.invalid:9092" })
    void aSettingThatIsReplacedOrMayWorkLaterDoesNot(String name, String value) {
        forwardingToKafka(Map.of(name, value)).run((context) -> assertThat(context).hasNotFailed());
    }

    /**
     * Otherwise the client would go on with each record for two minutes, and the queue
     * would repeat it after the timeout of its forward.
     */
    @ParameterizedTest
    @CsvSource({ "0, 4000", "20, 4000", "3000, 5000" })
    void theDeliveryTimeoutIsThatOfTheForwardWithALingerTime(Object linger, int timeout) {
        ForwarderFactory.Options options = new ForwarderFactory.Options("orders", false, Duration.ofSeconds(4));

        assertThat(KafkaForwarderFactory.configuration(Map.of("linger.ms", linger), options))
            .containsEntry("delivery.timeout.ms", timeout)
            .containsEntry("request.timeout.ms", 2000);
    }

    /** Consumers recognise repeated messages by these headers. */
    @Test
    void aSenderCannotSetTheHeadersOfTheLibrary() {
        String forged = Base64.getEncoder().encodeToString("other".getBytes(StandardCharsets.UTF_8));
        ForwardedMessage message = new ForwardedMessage("orders", "1", null, Instant.EPOCH, 1, 0, Map
            .of("delayqueue-id", "other", "delayqueue-binary-delayqueue-id", forged, "delayqueue-binary-tag", forged),
                new byte[0]);

        assertThat(message.brokerHeaders()).containsEntry("delayqueue-id", "1");
        assertThat(message.binaryHeaders()).containsOnlyKeys("tag");
    }

    /** Producers of forwards have meters as those of the application have. */
    @Test
    void listenersOfTheApplicationGetToKnowTheProducer() {
        List<String> added = new CopyOnWriteArrayList<>();
        DefaultKafkaProducerFactory<Object, Object> factory = new DefaultKafkaProducerFactory<>(
                Map.of("bootstrap.servers", "127.0.0.1:1"));
        factory.addListener(new ProducerFactory.Listener<>() {
            @Override
            public void producerAdded(String id, Producer<Object, Object> producer) {
                added.add(id);
            }
        });
        this.application.withBean(ProducerFactory.class, () -> factory)
            .withPropertyValues("delayqueue.forward.orders.to=kafka:orders")
            .run((context) -> assertThat(added)
                .containsExactly("delayqueue-forward-orders.delayqueue-forward-orders-1"));
    }

    /** A queue with two consumers would deliver each message to one of them. */
    @Test
    void aQueueWithAListenerCannotBeForwarded() {
        forwarding(() -> CompletableFuture.completedFuture(null)).withBean(OrderHandler.class)
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("because listener 'orderHandler' handles it too"));
    }

    @Test
    void aForwardedQueueGetsNoListenerAtRunTime() {
        forwarding(() -> CompletableFuture.completedFuture(null)).run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            DelayedListenerEndpoint endpoint = DelayedListenerEndpoint.builder("late", "free", "orders")
                .handler(Object.class, (json, delivery) -> {
                })
                .build();

            assertThatIllegalStateException().isThrownBy(() -> registry.register(endpoint))
                .withMessageStartingWith("Listener 'late' cannot handle queue 'orders', because listener "
                        + "'forward.orders' handles it too");
            assertThat(registry.listener("late")).isEmpty();
            assertThat(registry.unregister("forward.orders")).isTrue();
            assertThat(registry.register(endpoint).queues()).containsExactly("free", "orders");
        });
    }

    @Test
    void rabbitIsRefusedWithoutConfirmsAndReturns() {
        CachingConnectionFactory connections = new CachingConnectionFactory("127.0.0.1", 1);
        connections.setPublisherReturns(true);
        this.application.withBean(ConnectionFactory.class, () -> connections)
            .withPropertyValues("delayqueue.forward.orders.to=rabbit:orders/created")
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("set spring.rabbitmq.publisher-confirm-type to 'correlated'")
                .hasMessageContaining("spring.rabbitmq.publisher-returns"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = { "kafka:orders | it needs spring-kafka", "rabbit:orders/created | it needs spring-rabbit",
                    "orders | it must begin with one of [bean:, channel:]", "bean:none | there is no MessageForwarder",
                    "'' | it must begin with" })
    void anImpossibleTargetFailsTheStart(String target, String problem) {
        this.application.withClassLoader(new FilteredClassLoader(ProducerFactory.class, ConnectionFactory.class))
            .withPropertyValues("delayqueue.forward.orders.to=" + target)
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("delayqueue.forward.orders.to")
                .hasMessageContaining(problem));
    }

    @ParameterizedTest
    @CsvSource({ "delayqueue.forward[a b].to=bean:x, delayqueue.forward",
            "delayqueue.forward.orders.timeout=1ms, timeout" })
    void anInvalidSettingFailsTheStart(String setting, String name) {
        this.application.withPropertyValues(setting)
            .run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining(name));
    }

    static class OrderHandler {

        @DelayedListener(id = "orderHandler", queues = "orders")
        void handle(String order) {
        }

    }

}
