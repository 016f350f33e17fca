package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.UnknownQueueException;
import io.delayqueue.listener.DelayedListenerEndpoint;
import io.delayqueue.listener.DelayedListenerRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Sends to names that nothing declares, where the application refuses them. */
class UnknownQueueTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner strict = this.application
        .withPropertyValues("delayqueue.send.unknown-queues=reject");

    @Test
    void anyQueueNameIsAcceptedByDefault() {
        this.application.withBean(Orders.class)
            .run((context) -> assertThat(send(context.getBean(DelayQueueOperations.class), "ordres").outcome())
                .isEqualTo(SendOutcome.SCHEDULED));
    }

    @Test
    void aMistypedNameIsRejectedWithTheProbableName() {
        this.strict.withBean(Orders.class).run((context) -> {
            UnknownQueueException refused = catchThrowableOfType(UnknownQueueException.class,
                    () -> send(context.getBean(DelayQueueOperations.class), "ordres"));

            assertThat(refused.queue()).isEqualTo("ordres");
            assertThat(refused).hasMessage("Queue 'ordres' is not known, so nothing was sent "
                    + "(delayqueue.send.unknown-queues is 'reject'): no listener of this application handles it, and "
                    + "neither delayqueue.known-queues nor delayqueue.queues names it. Did you mean 'orders'?");
        });
    }

    @Test
    void everyKindOfSendRejectsItAndStoresNothing() {
        this.strict.withBean(Orders.class).run((context) -> {
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            DelayedMessage known = DelayedMessage.builder("orders", "m").id("a").delay(Duration.ofHours(1)).build();
            DelayedMessage unknown = DelayedMessage.builder("ordres", "m").id("b").build();

            assertThatExceptionOfType(UnknownQueueException.class)
                .isThrownBy(() -> queue.sendAll(List.of(known, unknown)));
            assertThatExceptionOfType(UnknownQueueException.class).isThrownBy(() -> queue.sendAsync(unknown));
            assertThat(queue.find("orders", "a")).isEmpty();
            assertThat(queue.find("ordres", "b")).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.known-queues=bills,receipts", "delayqueue.queues.receipts.partitions=2",
            "delayqueue.queues.receipts.lease=1m" })
    void aNameDeclaredByAPropertyIsAccepted(String property) {
        this.strict.withPropertyValues(property)
            .run((context) -> assertThat(send(context.getBean(DelayQueueOperations.class), "receipts").outcome())
                .isEqualTo(SendOutcome.SCHEDULED));
    }

    @Test
    void aNameIsAcceptedWhileAListenerIsRegistered() {
        this.strict.run((context) -> {
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            registry
                .register(DelayedListenerEndpoint.builder("late", "late").handler(Object.class, (json, delivery) -> {
                }).build());
            assertThat(send(queue, "late").outcome()).isEqualTo(SendOutcome.SCHEDULED);

            registry.unregister("late");
            assertThatExceptionOfType(UnknownQueueException.class).isThrownBy(() -> send(queue, "late"));
        });
    }

    @Test
    void aNameOfAListenerIsAccepted() {
        this.strict.withBean(Orders.class)
            .run((context) -> assertThat(send(context.getBean(DelayQueueOperations.class), "orders").outcome())
                .isEqualTo(SendOutcome.SCHEDULED));
    }

    @Test
    void aNameOfALateListenerIsAcceptedAfterItsRegistration() {
        this.strict.withBean("lazy", Orders.class, Orders::new, (definition) -> definition.setLazyInit(true))
            .run((context) -> {
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                assertThatExceptionOfType(UnknownQueueException.class).isThrownBy(() -> send(queue, "orders"));

                context.getBean("lazy");
                assertThat(send(queue, "orders").outcome()).isEqualTo(SendOutcome.SCHEDULED);
            });
    }

    /** Listeners are registered last. */
    @Test
    void nothingIsRejectedBeforeTheListenersAreKnown() {
        this.strict.withBean(Orders.class)
            .withBean(Early.class)
            .run((context) -> assertThat(context.getBean(DelayQueueOperations.class).find("orders", "early"))
                .isPresent());
    }

    @Test
    void aKnownQueueHasAValidName() {
        this.application.withPropertyValues("delayqueue.known-queues=not valid")
            .run((context) -> assertThat(context).getFailure()
                .rootCause()
                .hasMessageStartingWith("delayqueue.known-queues: queue name 'not valid' is not valid"));
    }

    private static SendResult send(DelayQueueOperations operations, String queue) {
        return operations.send(queue, "m", Duration.ofHours(1));
    }

    static class Orders {

        @DelayedListener("orders")
        void on(String payload) {
        }

    }

    static class Early implements InitializingBean {

        private final DelayQueueOperations operations;

        Early(DelayQueueOperations operations) {
            this.operations = operations;
        }

        @Override
        public void afterPropertiesSet() {
            this.operations.send(DelayedMessage.builder("orders", "m").id("early").delay(Duration.ofHours(1)).build());
        }

    }

}
