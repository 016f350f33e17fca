package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import io.delayqueue.testing.RedisUser;
import io.micrometer.context.ContextRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests how an application can customize the threads of its handlers. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class HandlerExecutionTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final String ACCESSOR = "execution.user";

    private static final ThreadLocal<String> user = new ThreadLocal<>();

    private final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
                DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner onRedis = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
                DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues(
                RedisUser.asAsked("spring.data.redis.port=" + this.redis.port(), "delayqueue.namespace=execution"));

    @AfterEach
    void clean() {
        ContextRegistry.getInstance().removeThreadLocalAccessor(ACCESSOR);
        user.remove();
        List<String> keys = this.redis.commands().keys("execution:*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
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
    void aHandlerFindsNothingOfTheThreadThatSent() {
        withUser().run((context) -> {
            user.set("alice");
            context.getBean(DelayQueueOperations.class).send("sync", "x", Duration.ZERO);

            assertThat(context.getBean(Users.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo("handler: null");
        });
    }

    /** What follows the future of a handler has the context that completed it. */
    @Test
    void contextIsPropagatedFromTheEndOfAFutureIfBootIsAskedTo() {
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

    @Test
    void handlersRunOnTheExecutorThatIsNamedAsManyAsTheyMayBe() {
        this.application.withUserConfiguration(Executors.class)
            .withPropertyValues("delayqueue.listener.executor=mine", "delayqueue.listener.concurrency=3")
            .run((context) -> {
                Executors handler = context.getBean(Executors.class);
                send(context.getBean(DelayQueueOperations.class), "a", "b", "c", "d");

                await().atMost(LIMIT).untilAsserted(() -> assertThat(handler.running).hasSize(3));
                assertThat(handler.running).allMatch((thread) -> thread.startsWith("mine-"));
                handler.goOn.countDown();
                await().atMost(LIMIT).untilAsserted(() -> assertThat(handler.running).hasSize(4));
            });
    }

    @Test
    void theExecutorOfBootMayBeNamed() {
        this.application.withUserConfiguration(Plain.class)
            .withPropertyValues("delayqueue.listener.executor=applicationTaskExecutor")
            .run((context) -> {
                send(context.getBean(DelayQueueOperations.class), "a");

                assertThat(context.getBean(Plain.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .startsWith("task-");
            });
    }

    @Test
    void anExecutorThatIsNotThereFailsTheStart() {
        this.application.withUserConfiguration(Plain.class)
            .withPropertyValues("delayqueue.listener.executor=none")
            .run((context) -> assertThat(FailureTexts.of(context.getStartupFailure()).getDescription())
                .contains("delayqueue.listener.executor", "There is no Executor bean of that name"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "caller", "throttled" })
    void anExecutorThatMakesItsCallersWaitFailsTheStart(String executor) {
        this.application.withUserConfiguration(Executors.class)
            .withPropertyValues("delayqueue.listener.executor=" + executor)
            .run((context) -> assertThat(FailureTexts.of(context.getStartupFailure()).getDescription())
                .contains("delayqueue.listener.executor", "the connection to Redis"));
    }

    /** The calling thread may be that of the connection, which nobody may block. */
    @Test
    void whatAnExecutorWouldRunInItsCallerIsHandledLater(CapturedOutput output) {
        this.onRedis.withUserConfiguration(Saturated.class)
            .withPropertyValues("delayqueue.listener.executor=saturated", "delayqueue.listener.concurrency=5")
            .run((context) -> {
                Saturated handler = context.getBean(Saturated.class);
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                send(queue, Collections.nCopies(20, "x").toArray(String[]::new));
                await().atMost(LIMIT)
                    .until(() -> handler.threads.size() > 1
                            || output.toString().contains("The executor rejects the handlers"));
                handler.goOn.countDown();

                await().atMost(LIMIT).untilAsserted(() -> assertThat(handler.threads).hasSize(20));
                assertThat(handler.threads).containsOnly("saturated-1");
            });
    }

    /** As {@code DiscardPolicy} and {@code DiscardOldestPolicy} do, without a word. */
    @ParameterizedTest
    @ValueSource(strings = { "discards", "discardsOldest" })
    void whatAnExecutorDropsIsHandledLater(String executor) {
        this.application.withUserConfiguration(Dropping.class)
            .withPropertyValues("delayqueue.listener.executor=" + executor)
            .run((context) -> {
                Dropping handler = context.getBean(Dropping.class);
                ThreadPoolExecutor pool = context.getBean(executor, ThreadPoolExecutor.class);
                CountDownLatch goOn = new CountDownLatch(1);
                pool.execute(() -> awaitLatch(goOn));
                if (executor.equals("discards")) {
                    pool.execute(() -> {
                    });
                    send(context.getBean(DelayQueueOperations.class), "a");
                }
                else {
                    send(context.getBean(DelayQueueOperations.class), "a");
                    await().atMost(LIMIT).until(() -> !pool.getQueue().isEmpty());
                    pool.execute(() -> {
                    });
                }
                assertThat(handler.dropped.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

                goOn.countDown();

                assertThat(handler.seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("a");
            });
    }

    /** The exception of the task says that it was rejected; it reaches nobody here. */
    @Test
    void whatAnExecutorWouldRunInItsCallerIsHandledLaterThoughADecoratorCatchesThat() {
        this.application.withUserConfiguration(Swallowing.class)
            .withPropertyValues("delayqueue.listener.executor=swallowing")
            .run((context) -> {
                Swallowing handler = context.getBean(Swallowing.class);
                ThreadPoolExecutor pool = context.getBean("swallowing", ThreadPoolTaskExecutor.class)
                    .getThreadPoolExecutor();
                CountDownLatch goOn = new CountDownLatch(1);
                pool.execute(() -> awaitLatch(goOn));
                send(context.getBean(DelayQueueOperations.class), "a");
                assertThat(handler.swallowed.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

                goOn.countDown();

                assertThat(handler.seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("a");
            });
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            if (!latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("Nobody lets this thread go on");
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(DelayQueueOperations queue, String... payloads) {
        for (String payload : payloads) {
            queue.send("orders", payload, Duration.ZERO);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Dropping {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        final CountDownLatch dropped = new CountDownLatch(1);

        @Bean(destroyMethod = "shutdownNow", defaultCandidate = false)
        ThreadPoolExecutor discards() {
            return pool(new ThreadPoolExecutor.DiscardPolicy());
        }

        @Bean(destroyMethod = "shutdownNow", defaultCandidate = false)
        ThreadPoolExecutor discardsOldest() {
            return pool(new ThreadPoolExecutor.DiscardOldestPolicy());
        }

        private ThreadPoolExecutor pool(RejectedExecutionHandler policy) {
            return new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(1), (task, pool) -> {
                policy.rejectedExecution(task, pool);
                this.dropped.countDown();
            });
        }

        @DelayedListener("orders")
        void handle(String payload) {
            this.seen.add(payload);
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Swallowing {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        final CountDownLatch swallowed = new CountDownLatch(1);

        @Bean(defaultCandidate = false)
        ThreadPoolTaskExecutor swallowing() {
            ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
            pool.setCorePoolSize(1);
            pool.setMaxPoolSize(1);
            pool.setQueueCapacity(0);
            pool.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
            pool.setTaskDecorator((task) -> () -> {
                try {
                    task.run();
                }
                catch (RuntimeException ex) {
                    this.swallowed.countDown();
                }
            });
            return pool;
        }

        @DelayedListener("orders")
        void handle(String payload) {
            this.seen.add(payload);
        }

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
        void onDeath(DeadLetterEvent death) {
            this.seen.add("dead letter: " + user.get());
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Executors {

        final List<String> running = Collections.synchronizedList(new ArrayList<>());

        final CountDownLatch goOn = new CountDownLatch(1);

        @Bean
        SimpleAsyncTaskExecutor mine() {
            return new SimpleAsyncTaskExecutor("mine-");
        }

        @Bean
        SyncTaskExecutor caller() {
            return new SyncTaskExecutor();
        }

        @Bean
        SimpleAsyncTaskExecutor throttled() {
            SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("throttled-");
            executor.setConcurrencyLimit(2);
            return executor;
        }

        @DelayedListener("orders")
        void handle(String payload) throws InterruptedException {
            this.running.add(Thread.currentThread().getName());
            this.goOn.await();
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Plain {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @DelayedListener("orders")
        void handle(String payload) {
            this.seen.add(Thread.currentThread().getName());
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Saturated {

        final List<String> threads = Collections.synchronizedList(new ArrayList<>());

        final CountDownLatch goOn = new CountDownLatch(1);

        @Bean
        ThreadPoolTaskExecutor saturated() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setMaxPoolSize(1);
            executor.setQueueCapacity(0);
            executor.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
            return executor;
        }

        @DelayedListener("orders")
        void handle(String payload) throws InterruptedException {
            this.threads.add(Thread.currentThread().getName());
            if (Thread.currentThread().getName().startsWith("saturated-")) {
                this.goOn.await();
            }
        }

    }

}
