package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.application.StartupFailures;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests how an application can choose the threads of its handlers. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class HandlerExecutionTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

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
        List<String> keys = this.redis.commands().keys("execution:*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
    }

    @Test
    void handlersRunOnTheNamedExecutorUpToTheirConcurrency() {
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
    void aMissingExecutorFailsTheStart() {
        this.application.withUserConfiguration(Plain.class)
            .withPropertyValues("delayqueue.listener.executor=none")
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .contains("delayqueue.listener.executor", "There is no Executor bean of that name"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "caller", "throttled" })
    void anExecutorThatMakesItsCallersWaitFailsTheStart(String executor) {
        this.application.withUserConfiguration(Executors.class)
            .withPropertyValues("delayqueue.listener.executor=" + executor)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .contains("delayqueue.listener.executor", "the connection to Redis"));
    }

    /** The calling thread may be that of the connection, which must not be blocked. */
    @Test
    void aTaskThatAnExecutorRunsInItsCallerIsHandledLater(CapturedOutput output) {
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
    void aTaskThatAnExecutorDropsIsHandledLater(String executor) {
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

    /** The exception of the task reports the rejection; no test reads it here. */
    @Test
    void aTaskRunInItsCallerIsHandledLaterEvenIfADecoratorCatchesTheRejection() {
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
                throw new IllegalStateException("The test did not release this thread");
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
