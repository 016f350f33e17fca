package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.application.StartupFailures;
import io.delayqueue.listener.DelayedListenerAnnotationBeanPostProcessor;
import io.delayqueue.listener.DelayedListenerEndpoint;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.listener.NodeHeartbeat;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.routing.UnconsumedQueueCheck;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Positive;
import io.delayqueue.store.schedule.LocalSchedules;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.util.ReflectionUtils;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.verify;

/** Checks that handlers are found and called, and that the beans back off. */
class DelayQueueListenerAutoConfigurationTests {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner lazyApplication = this.application.withInitializer(
            (context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));

    @Test
    void deliversMessagesToHandlers() {
        this.application.withBean(Handler.class)
            .run((context) -> assertThat(
                    sendAndAwait(context.getBean(DelayQueueOperations.class), context.getBean(Handler.class)))
                .isEqualTo("hello"));
    }

    @Test
    void deliversMessagesToHandlersOfALazyApplication() {
        this.lazyApplication.withBean("handler", Handler.class).run((context) -> {
            assertThat(context.getBeanFactory().getSingleton("handler")).isNotNull();
            assertThat(sendAndAwait(context.getBean(DelayQueueOperations.class), context.getBean(Handler.class)))
                .isEqualTo("hello");
        });
    }

    @Test
    void leavesOtherBeansOfALazyApplicationLazy() {
        this.lazyApplication.withBean("text", StringBuilder.class)
            .run((context) -> assertThat(context.getBeanFactory().getSingleton("text")).isNull());
    }

    @Test
    void isAbsentWhenDisabled() {
        this.application.withBean(Handler.class)
            .withPropertyValues("delayqueue.enabled=false")
            .run((context) -> assertThat(context).hasNotFailed()
                .doesNotHaveBean(DelayedListenerLifecycle.class)
                .doesNotHaveBean(DelayedListenerAnnotationBeanPostProcessor.class)
                .doesNotHaveBean(DelayedListenerLazyInitializationExcludeFilter.class));
    }

    @Test
    void configuresTheListenersOfAQueue() {
        this.application.withBean(Handler.class)
            .withPropertyValues("delayqueue.queues.orders.auto-startup=false")
            .run((context) -> assertThat(listeners(context.getBean(DelayedListenerRegistry.class)))
                .allMatch((listener) -> !listener.isRunning()));
    }

    @Test
    void backsOffFromARegistryOfTheApplication() {
        this.application.withBean(Handler.class).withUserConfiguration(OwnRegistry.class).run((context) -> {
            assertThat(context).getBeanNames(DelayedListenerRegistry.class).containsExactly("own");
            assertThat(context.getBean(DelayedListenerRegistry.class).listeners()).hasSize(1);
        });
    }

    @Test
    void backsOffFromAWorkerOfTheApplication() {
        this.application.withUserConfiguration(OwnWorker.class)
            .run((context) -> assertThat(context).getBeanNames(DelayedListenerLifecycle.class).containsExactly("own"));
    }

    @Test
    void backsOffFromAPostProcessorOfTheApplication() {
        this.application.withUserConfiguration(OwnPostProcessor.class)
            .run((context) -> assertThat(context).getBeanNames(DelayedListenerAnnotationBeanPostProcessor.class)
                .containsExactly("own"));
    }

    @Test
    void validatesPayloadsWithTheValidatorOfTheApplication() {
        this.application.withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
            .withBean(ValidatingHandler.class)
            .run((context) -> {
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                queue.send("orders", new Order(-1), Duration.ZERO);
                await().atMost(LIMIT).untilAsserted(() -> assertThat(queue.statistics("orders").dead()).isOne());
            });
    }

    /** The proxy that validates is made by another post-processor without a relation. */
    @Test
    void validatesParametersOfAValidatedClass() {
        this.application.withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
            .withBean(ValidatedHandler.class)
            .run((context) -> {
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                queue.send("orders", 0, Duration.ZERO);
                await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(queue.deadLetters("orders").list(null, 1).deadLetters())
                        .singleElement()
                        .satisfies((letter) -> assertThat(letter.cause()).contains("ConstraintViolationException")));
            });
    }

    @Test
    void rejectsAnAsyncMethodWhoseEndIsUnknown() {
        this.application.withUserConfiguration(AsyncMethods.class)
            .withBean("later", AsyncHandler.class)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .contains("an @Async method has to return a CompletableFuture"));
    }

    @Test
    void rejectsAMethodOfASuperclassOfAnAsyncClass() {
        this.application.withUserConfiguration(AsyncMethods.class)
            .withBean("later", AsyncClass.class)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .contains("an @Async method has to return a CompletableFuture"));
    }

    @Test
    void rejectsAMethodOfAnInterfaceThatTheBeansClassMakesAsync() {
        this.application.withUserConfiguration(AsyncMethods.class).withBean(AsyncTask.class).run((context) -> {
            DelayedListenerEndpoint endpoint = DelayedListenerEndpoint.builder("task", "orders")
                .method(context.getBean(Task.class), ReflectionUtils.findMethod(Task.class, "on", String.class))
                .build();
            assertThatIllegalArgumentException()
                .isThrownBy(() -> context.getBean(DelayedListenerRegistry.class).register(endpoint))
                .withMessageContaining("an @Async method has to return a CompletableFuture");
        });
    }

    @Test
    void startsWithSeveralValidatorsOfWhichNoneIsPrimary() {
        this.application.withBean("one", Validator.class, () -> mock())
            .withBean("two", Validator.class, () -> mock())
            .run((context) -> assertThat(context).hasNotFailed());
    }

    @Test
    void namesTheInvalidListenerAndTheReason() {
        this.application.withBean("wrong", WrongHandler.class).run((context) -> {
            FailureAnalysis text = StartupFailures.of(context.getStartupFailure());
            assertThat(text.getDescription().lines().toList())
                .containsExactly("The @DelayedListener on method '%s.on(String)' of bean 'wrong' cannot work:"
                    .formatted(WrongHandler.class.getName()), "", "    concurrency must be 1 to 10000, but was 0");
            assertThat(text.getAction()).isEqualTo("Correct the annotation, the signature of the method, or the "
                    + "property that the value comes from.");
        });
    }

    @Test
    void namesTheListenersOfAQueueThatReadDifferentTypes() {
        this.application.withBean("texts", Handler.class)
            .withBean("numbers", NumberHandler.class)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription()).contains(
                    Handler.class.getName() + ".on(String)", "java.lang.String",
                    NumberHandler.class.getName() + ".on(long)", " as long"));
    }

    @Test
    void searchesForQueuesWithoutAConsumerWhileThereAreListeners() {
        UnconsumedQueueCheck unconsumed = mock();
        this.application.withBean(UnconsumedQueueCheck.class, () -> unconsumed)
            .withBean(Handler.class)
            .run((context) -> verify(unconsumed, timeout(LIMIT.toMillis()).atLeastOnce()).refresh());
    }

    @Test
    void runsHandlersOnPlatformThreadsByDefault() {
        this.application.withBean(ThreadHandler.class).run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "hello", Duration.ZERO);
            assertThat(context.getBean(ThreadHandler.class).threads.poll(LIMIT.toSeconds(), TimeUnit.SECONDS).getName())
                .matches("delayqueue-handler-[0-9]+");
        });
    }

    private static String sendAndAwait(DelayQueueOperations queue, Handler handler) throws InterruptedException {
        queue.send("orders", "hello", Duration.ofMillis(10));
        return handler.seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private static List<ListenerContainer> listeners(DelayedListenerRegistry registry) {
        assertThat(registry.listeners()).isNotEmpty();
        return List.copyOf(registry.listeners());
    }

    static class Handler {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @DelayedListener("orders")
        void on(String payload) {
            this.seen.add(payload);
        }

    }

    static class ThreadHandler {

        final BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();

        @DelayedListener("orders")
        void on(String payload) {
            this.threads.add(Thread.currentThread());
        }

    }

    static class WrongHandler {

        @DelayedListener(queues = "orders", concurrency = "0")
        void on(String payload) {
        }

    }

    static class NumberHandler {

        @DelayedListener("orders")
        void on(long payload) {
        }

    }

    @Validated
    static class ValidatedHandler {

        @DelayedListener(queues = "orders", maxAttempts = "1")
        void on(@Min(1) long id) {
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncMethods {

    }

    static class AsyncHandler {

        @Async
        @DelayedListener("orders")
        void on(String order) {
        }

    }

    @Async
    static class AsyncClass extends Handler {

    }

    interface Task {

        void on(String order);

    }

    static class AsyncTask implements Task {

        @Async
        @Override
        public void on(String order) {
        }

    }

    static class ValidatingHandler {

        @DelayedListener("orders")
        void on(@Valid @Payload Order order) {
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class OwnRegistry {

        @Bean
        DelayedListenerRegistry own(DelayQueueProperties properties, EnvelopeCodec codec) {
            return new DelayedListenerRegistry(properties::listenerSettings,
                    new HandlerMethodFactory(codec, null, MessageObservations.NONE), MessageEventRecorderFactory.NONE);
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class OwnWorker {

        @Bean
        DelayedListenerLifecycle own(StoreComponents components, DelayedListenerRegistry registry,
                ApplicationEventPublisher events, DelayQueueProperties properties) {
            return new DelayedListenerLifecycle(components, registry, events,
                    properties.workerSettings(false, HandlerExecution.DEFAULT), NodeHeartbeat.none());
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPostProcessor {

        @Bean
        static DelayedListenerAnnotationBeanPostProcessor own(ObjectProvider<DelayedListenerRegistry> registry) {
            return new DelayedListenerAnnotationBeanPostProcessor(registry, (system) -> null,
                    (system) -> LocalSchedules.none());
        }

    }

    /** A payload. */
    record Order(@Positive int number) {
    }

}
