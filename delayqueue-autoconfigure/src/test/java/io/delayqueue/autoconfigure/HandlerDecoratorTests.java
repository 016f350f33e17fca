package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.micrometer.context.ContextRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests how an application can decorate the handling of messages. */
class HandlerDecoratorTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final String ACCESSOR = "execution.user";

    private static final ThreadLocal<String> user = new ThreadLocal<>();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
                DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    @AfterEach
    void clean() {
        ContextRegistry.getInstance().removeThreadLocalAccessor(ACCESSOR);
        user.remove();
    }

    /** The first is the innermost, as in the executors of Boot. */
    @Test
    void decoratorsWrapTheHandlingOfEachMessageInTheirOrder() {
        this.application.withUserConfiguration(Decorators.class)
            .withPropertyValues("delayqueue.listener.concurrency=1")
            .run((context) -> {
                List<String> steps = context.getBean(Decorators.class).steps;
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                queue.send("orders", "1", "a", Duration.ZERO);
                queue.send("orders", "2", "b", Duration.ZERO);

                await().atMost(LIMIT).untilAsserted(() -> assertThat(steps).hasSize(10));
                assertThat(steps).containsExactly("second in", "first in", "handles a", "first out", "second out",
                        "second in", "first in", "handles b", "first out", "second out");
                steps.clear();
                context.getBean("applicationTaskExecutor", TaskExecutor.class).execute(() -> steps.add("runs"));
                await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(steps).containsExactly("second in", "first in", "runs", "first out",
                            "second out"));
            });
    }

    /** As in an application that writes a tenant into each line of its log. */
    @Test
    void aDecoratorKnowsTheMessageByTheDiagnosticContextAndMayAddToIt() {
        this.application.withUserConfiguration(Tenants.class).run((context) -> {
            context.getBean(DelayQueueOperations.class)
                .send(DelayedMessage.builder("north.orders", "x").id("order-7").build());

            assertThat(context.getBean(Tenants.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo("tenant north, queue north.orders, id order-7");
        });
    }

    @Test
    void aHandlerSeesNoContextOfTheSendingThread() {
        withUser().run((context) -> {
            user.set("alice");
            context.getBean(DelayQueueOperations.class).send("sync", "x", Duration.ZERO);

            assertThat(context.getBean(Users.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo("handler: null");
        });
    }

    /** Stages after the future of a handler run in the context that completed it. */
    @Test
    void contextIsPropagatedFromACompletedFutureIfEnabledInBoot() {
        withUser().withPropertyValues("delayqueue.listener.max-attempts=1").run((context) -> {
            context.getBean(DelayQueueOperations.class).send("async", "x", Duration.ZERO);
            Users users = context.getBean(Users.class);
            assertThat(users.returned.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

            user.set("bob");
            users.future.completeExceptionally(new IllegalStateException("declined"));

            assertThat(users.seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("dead letter: bob");
        });
    }

    private ApplicationContextRunner withUser() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(ACCESSOR, user);
        return this.application.withUserConfiguration(Users.class)
            .withPropertyValues("spring.task.execution.propagate-context=true");
    }

    @Configuration(proxyBeanMethods = false)
    static class Decorators {

        final List<String> steps = Collections.synchronizedList(new ArrayList<>());

        @Bean
        @Order(2)
        TaskDecorator second() {
            return decorator("second");
        }

        @Bean
        @Order(1)
        TaskDecorator first() {
            return decorator("first");
        }

        private TaskDecorator decorator(String name) {
            return (task) -> () -> {
                this.steps.add(name + " in");
                task.run();
                this.steps.add(name + " out");
            };
        }

        @DelayedListener("orders")
        void handle(String payload) {
            this.steps.add("handles " + payload);
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @Bean
        TaskDecorator tenant() {
            return (task) -> {
                String tenant = MDC.get("delayqueue.queue").split("\\.")[0];
                return () -> {
                    MDC.put("tenant", tenant);
                    try {
                        task.run();
                    }
                    finally {
                        MDC.clear();
                    }
                };
            };
        }

        @DelayedListener("north.orders")
        void handle(String payload) {
            this.seen.add("tenant %s, queue %s, id %s".formatted(MDC.get("tenant"), MDC.get("delayqueue.queue"),
                    MDC.get("delayqueue.id")));
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Users {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        final CompletableFuture<Void> future = new CompletableFuture<>();

        final CountDownLatch returned = new CountDownLatch(1);

        @Bean
        TaskDecorator observer() {
            return (task) -> () -> {
                task.run();
                this.returned.countDown();
            };
        }

        @DelayedListener("sync")
        void handle(String payload) {
            this.seen.add("handler: " + user.get());
        }

        @DelayedListener("async")
        CompletableFuture<Void> later(String payload) {
            return this.future;
        }

        @EventListener
        void onDeadLetter(DeadLetterEvent event) {
            this.seen.add("dead letter: " + user.get());
        }

    }

}
