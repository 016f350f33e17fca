package io.delayqueue.listener;

import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import io.delayqueue.QueueName;
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueSystem;
import io.delayqueue.autoconfigure.DelayQueueSystemBuilder;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** Tests listeners that are registered and removed by calls. */
class DelayedListenerEndpointTests {

    private final BlockingQueue<Object> handled = new LinkedBlockingQueue<>();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory", "spring.application.name=test");

    private DelayedListenerEndpoint.Builder endpoint(String id, String... queues) {
        return DelayedListenerEndpoint.builder(id, queues)
            .handler(Order.class, (order, delivery) -> this.handled.add(delivery.queue() + " " + order.number()));
    }

    private Object next() throws InterruptedException {
        Object next = this.handled.poll(30, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    @Test
    void aConfigurerRegistersListenersThatStartWithTheApplication() {
        this.application
            .withBean(DelayedListenerConfigurer.class,
                    () -> (registry) -> registry.register(endpoint("tenants", "a", "b").build()))
            .run((context) -> {
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                queue.send("a", new Order(1));
                assertThat(next()).isEqualTo("a 1");
                queue.send("b", new Order(2));
                assertThat(next()).isEqualTo("b 2");
                assertThat(context.getBean(DelayedListenerRegistry.class).require("tenants").queues())
                    .containsExactly("a", "b");
            });
    }

    @Test
    void listenersComeAndGoWhileTheApplicationRuns() {
        this.application.run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            for (int i = 0; i < 3; i++) {
                queue.send("late", new Order(i));
                ListenerContainer listener = registry.register(endpoint("late", "late").build());
                assertThat(listener.isRunning()).isTrue();
                assertThat(next()).isEqualTo("late " + i);

                assertThat(registry.unregister("late")).isTrue();
                assertThat(listener.isRunning()).isFalse();
                assertThat(registry.listeners()).isEmpty();
            }
            assertThat(registry.unregister("late")).isFalse();
            queue.send("late", new Order(3));
            assertThat(queue.statistics("late").scheduled()).isOne();
            assertThat(this.handled).isEmpty();
        });
    }

    /** A removed listener cannot be started by one who still holds it. */
    @Test
    void aRemovedListenerStaysStopped() {
        this.application.run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            ListenerContainer listener = registry.register(endpoint("late", "late").build());
            registry.unregister("late");

            listener.start();
            assertThat(listener.isRunning()).isFalse();
            context.getBean(DelayedListenerLifecycle.class).stop();
            context.getBean(DelayedListenerLifecycle.class).start();
            assertThat(listener.isRunning()).isFalse();
        });
    }

    @Test
    void aListenerWhoseRegistrationFailsCanBeRegisteredAgain() {
        this.application.run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            AtomicBoolean broken = new AtomicBoolean(true);
            registry.onRegistration((listener) -> {
                if (broken.get()) {
                    throw new IllegalStateException("no meters");
                }
            });
            assertThatIllegalStateException().isThrownBy(() -> registry.register(endpoint("late", "late").build()))
                .withMessage("no meters");
            assertThat(registry.listeners()).isEmpty();
            assertThat(registry.handles(new QueueName("late"))).isFalse();

            broken.set(false);
            registry.register(endpoint("late", "late").build());
            context.getBean(DelayQueueOperations.class).send("late", new Order(1));
            assertThat(next()).isEqualTo("late 1");
            assertThat(this.handled).isEmpty();
        });
    }

    /** A removal forgets the meters of the removed listener only. */
    @Test
    void aListenerThatReplacesOneBeingRemovedKeepsItsEvents() throws Exception {
        List<String> calls = new CopyOnWriteArrayList<>();
        DelayedListenerRegistry registry = new DelayedListenerRegistry((queue) -> TestBed.settings(),
                new HandlerMethodFactory(new EnvelopeCodec(JsonMapper.builder().build()), null,
                        MessageObservations.NONE),
                recording(calls));
        registry.register(endpoint("late", "late").build());
        Thread replacement = new Thread(() -> registry.register(endpoint("late", "late").build()));
        registry.onRemoval((listener) -> {
            replacement.start();
            TestBed.await(() -> replacement.getState() == Thread.State.BLOCKED);
        });
        registry.unregister("late");
        replacement.join();

        assertThat(calls).containsExactly("of", "forget", "of");
        assertThat(registry.listeners()).hasSize(1);
    }

    /** A listener that is rejected, or that cannot be created, leaves no meters. */
    @Test
    void aListenerThatIsNotRegisteredLeavesNoMeters() {
        List<String> calls = new CopyOnWriteArrayList<>();
        DelayedListenerRegistry registry = new DelayedListenerRegistry((queue) -> TestBed.settings(),
                new HandlerMethodFactory(new EnvelopeCodec(JsonMapper.builder().build()), null,
                        MessageObservations.NONE),
                recording(calls));
        registry.register(endpoint("orders", "late").build());
        DelayedListenerEndpoint other = DelayedListenerEndpoint.builder("numbers", "late", "free")
            .handler(Integer.class, (number, delivery) -> {
            })
            .build();

        assertThatIllegalArgumentException().isThrownBy(() -> registry.register(other));

        assertThat(calls).containsExactly("of");
        registry.unregister("orders");
        assertThat(registry.register(other).queues()).containsExactlyInAnyOrder("late", "free");
    }

    private static MessageEventRecorderFactory recording(List<String> calls) {
        return new MessageEventRecorderFactory() {

            @Override
            public MessageEventRecorder of(QueueName queue) {
                return MessageEventRecorder.NONE;
            }

            @Override
            public MessageEventRecorder of(QueueName queue, String listenerId) {
                calls.add("of");
                return MessageEventRecorder.NONE;
            }

            @Override
            public void forget(QueueName queue, String listenerId) {
                calls.add("forget");
            }

            @Override
            public void called(String script, long nanos, boolean answered) {
            }

        };
    }

    /** P12: the handler of a removed listener ends, and its message is acknowledged. */
    @Test
    void aHandlerMayRemoveItsOwnListener() {
        CountDownLatch removed = new CountDownLatch(1);
        this.application.run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            queue.send("late", "first", new Order(1), Duration.ZERO);
            queue.send("late", "second", new Order(2), Duration.ofHours(1));
            ListenerContainer listener = registry
                .register(DelayedListenerEndpoint.builder("late", "late").handler(Order.class, (order, delivery) -> {
                    registry.unregister("late");
                    removed.countDown();
                }).build());

            assertThat(removed.await(30, TimeUnit.SECONDS)).isTrue();
            await().untilAsserted(() -> assertThat(queue.find("late", "first")).isEmpty());
            assertThat(queue.find("late", "second")).isPresent();
            assertThat(listener.statistics()).isEqualTo(new ListenerStatistics(1, 0, 0, 0, 0, 0, 0, 0));
        });
    }

    @Test
    void anEndpointMayCallAMethodWithAllItsParameters() {
        this.application.withBean(Methods.class).withPropertyValues("from=none").run((context) -> {
            Methods bean = context.getBean(Methods.class);
            Method method = ReflectionUtils.findMethod(Methods.class, "handle", Order.class, String.class,
                    Delivery.class);
            context.getBean(DelayedListenerRegistry.class)
                .register(DelayedListenerEndpoint.builder("method", "methods").method(bean, method).build());
            context.getBean(DelayQueueOperations.class).send("methods", "id", new Order(7), Duration.ZERO);

            assertThat(bean.handled.poll(30, TimeUnit.SECONDS)).isEqualTo("7 none id");
        });
    }

    @Test
    void anEndpointReadsGenericTypesAndAnyJson() {
        this.application.run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            registry.register(DelayedListenerEndpoint.builder("list", "lists")
                .handler(new ParameterizedTypeReference<List<Order>>() {
                }, (orders, delivery) -> this.handled.add(orders))
                .build());
            registry.register(DelayedListenerEndpoint.builder("any", "any")
                .handler(Object.class, (json, delivery) -> this.handled.add(json.toString()))
                .build());
            context.getBean(DelayQueueOperations.class).send("lists", List.of(new Order(1), new Order(2)));
            assertThat(next()).isEqualTo(List.of(new Order(1), new Order(2)));
            context.getBean(DelayQueueOperations.class).send("any", new Order(3));
            assertThat(next()).isEqualTo("{\"number\":3}");
        });
    }

    @Test
    void settingsAreThoseOfTheQueueUnlessTheEndpointHasThem() {
        BackoffPolicy backoff = new BackoffPolicy(Duration.ofSeconds(3), 1, Duration.ofSeconds(3), 0);
        this.application.withPropertyValues("delayqueue.queues.late.max-attempts=9").run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            DefaultListenerContainer plain = (DefaultListenerContainer) registry
                .register(endpoint("plain", "late").build());
            DefaultListenerContainer full = (DefaultListenerContainer) registry
                .register(endpoint("full", "other").concurrency(3)
                    .lease(Duration.ofSeconds(40))
                    .timeout(Duration.ofSeconds(20))
                    .maxAttempts(2)
                    .backoff(backoff)
                    .noRetryFor(Set.of(IOException.class))
                    .autoStartup(false)
                    .build());

            ListenerSettings settings = full.bindings().get(0).settings();
            assertThat(settings).isEqualTo(new ListenerSettings(3, Duration.ofSeconds(40), Duration.ofSeconds(20), 2,
                    settings.maxLapses(), backoff, settings.expiryPolicy(), false, Set.of(IOException.class)));
            assertThat(full.isRunning()).isFalse();
            assertThat(plain.bindings().get(0).settings().maxAttempts()).isEqualTo(9);
            assertThat(plain.bindings().get(0).settings().concurrency()).isEqualTo(10);
        });
    }

    @Test
    void anEndpointMayHaveAnErrorHandler() {
        this.application.run((context) -> {
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            context.getBean(DelayedListenerRegistry.class)
                .register(DelayedListenerEndpoint.builder("failing", "failing")
                    .handler(Order.class, (order, delivery) -> {
                        throw new IllegalStateException("boom");
                    })
                    .errorHandler((delivery, error) -> ErrorDecision.deadLetter("given up"))
                    .build());
            queue.send("failing", new Order(1));

            await().untilAsserted(
                    () -> assertThat(queue.deadLetters("failing").list(null, 1).deadLetters()).singleElement()
                        .satisfies((deadLetter) -> assertThat(deadLetter.cause()).isEqualTo("given up")));
        });
    }

    @Test
    void invalidEndpointsAreRejectedAndNothingIsRegistered() {
        this.application.withBean(Annotated.class).run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);

            assertThatIllegalArgumentException().isThrownBy(() -> DelayedListenerEndpoint.builder(" ", "a"))
                .withMessage("The id of an endpoint must not be blank");
            assertThatIllegalArgumentException().isThrownBy(() -> DelayedListenerEndpoint.builder("x"))
                .withMessage("queues must name at least one queue");
            assertThatIllegalArgumentException().isThrownBy(() -> DelayedListenerEndpoint.builder("x", "a", "a"))
                .withMessage("queues must differ, but 'a' is there twice");
            assertThatIllegalArgumentException().isThrownBy(() -> DelayedListenerEndpoint.builder("x", "no queue"))
                .withMessageStartingWith("Queue name 'no queue' is not valid");
            assertThatIllegalArgumentException().isThrownBy(() -> DelayedListenerEndpoint.builder("x", "a").build())
                .withMessage("Endpoint 'x' needs a handler or a method");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.register(endpoint("x", "a").concurrency(0).build()))
                .withMessage("Endpoint 'x' is not valid: concurrency must be 1 to 10000, but was 0");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.register(endpoint("x", "a").transactional(true).build()))
                .withMessageStartingWith(
                        "Endpoint 'x' is not valid: transactional must be false, as no queue of this system");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.register(endpoint("x", "free", "annotated").build()))
                .withMessageStartingWith("Endpoint 'x' is not valid: it reads messages of queue 'annotated' as ")
                .withMessageContaining("but method '%s.handle(Integer)' of bean".formatted(Annotated.class.getName()));
            assertThatIllegalStateException().isThrownBy(() -> registry.register(endpoint("annotated", "a").build()))
                .withMessage("There is already a listener with the id 'annotated'");
            assertThat(registry.listeners()).extracting(ListenerContainer::id).containsExactly("annotated");
            assertThat(registry.register(endpoint("x", "free").build()).queues()).containsExactly("free");
        });
    }

    /** A queue may be read as another type once the listener of the first is gone. */
    @Test
    void aRemovedListenerLeavesItsQueuesToOthers() {
        this.application.withBean(Annotated.class).run((context) -> {
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            registry.unregister("annotated");

            assertThat(registry.register(endpoint("x", "annotated").build()).isRunning()).isTrue();
        });
    }

    @Test
    void aFurtherQueueSystemHasListenersOfItsOwn() {
        this.application.withUserConfiguration(Billing.class).run((context) -> {
            DelayQueueSystem billing = context.getBean(DelayQueueSystem.class);
            billing.listeners().register(endpoint("late", "late").build());
            billing.template().send("late", new Order(5));

            assertThat(next()).isEqualTo("late 5");
            assertThat(context.getBean(DelayedListenerRegistry.class).listeners()).isEmpty();
        });
    }

    record Order(int number) {
    }

    static class Billing {

        @Bean
        DelayQueueSystem billing(DelayQueueSystemBuilder builder) {
            return builder.namespace("billing").build();
        }

    }

    static class Methods {

        final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

        void handle(Order order, @Header(name = "from", defaultValue = "${from}") String from, Delivery delivery) {
            this.handled.add("%d %s %s".formatted(order.number(), from, delivery.id()));
        }

    }

    static class Annotated {

        @DelayedListener(queues = "annotated", id = "annotated")
        void handle(Integer number) {
        }

    }

}
