package io.delayqueue.forward;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.delayqueue.DelayedListener;
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueForwardAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;

import static org.assertj.core.api.Assertions.assertThat;
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

    /** A queue with two consumers would deliver each message to one of them. */
    @Test
    void aQueueWithAListenerCannotBeForwarded() {
        forwarding(() -> CompletableFuture.completedFuture(null)).withBean(OrderHandler.class)
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("because listener 'orderHandler' handles it too"));
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
