package io.delayqueue.benchmarks.jmh;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.WakeUps;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/**
 * An application with the library as it is configured by default, on a {@link StubRedis}.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Application {

    static final String QUEUE = "work";

    static final Duration DELAY = Duration.ofMinutes(1);

    static final Work WORK = new Work(42, 1_790_000_000_000_000L, "x".repeat(50));

    private static final String ENVELOPE = "{\"payload\":{\"number\":42,\"dueMicros\":1790000000000000,\"text\":\"%s\"}}"
        .formatted("x".repeat(50));

    static ConfigurableApplicationContext start() {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setDefaultProperties(Map.of("spring.main.banner-mode", "off", "logging.level.root", "WARN",
                "delayqueue.listener.concurrency", 16, "spring.autoconfigure.exclude",
                "io.delayqueue.autoconfigure.DelayQueueStartChecksAutoConfiguration"));
        return application.run();
    }

    @Bean(destroyMethod = "")
    @Primary
    StubRedis stubRedis() {
        return new StubRedis(ENVELOPE);
    }

    @Bean
    RedisScriptExecutor redisScriptExecutor(StubRedis redis) {
        try {
            return new RedisScriptExecutor(redis, "jmh", Duration.ofSeconds(10));
        }
        catch (NoSuchMethodError ex) { // an older commit to compare with
            return new RedisScriptExecutor(redis, "jmh");
        }
    }

    @Bean(destroyMethod = "")
    WakeUps wakeUps(StubRedis redis) {
        return redis;
    }

    @Bean
    Listener listener() {
        return new Listener();
    }

    /** A payload of a hundred bytes. */
    record Work(long number, long dueMicros, String text) {
    }

    static final class Listener {

        private volatile long last;

        @DelayedListener(QUEUE)
        void handle(Work work) {
            this.last = work.number();
        }

        long last() {
            return this.last;
        }

    }

    /** The context, for the benchmarks of one JVM. */
    static final class Running implements AutoCloseable {

        private final ConfigurableApplicationContext context = start();

        private final DelayQueueOperations template = bean(DelayQueueOperations.class);

        DelayQueueOperations template() {
            return this.template;
        }

        <T> T bean(Class<T> type) {
            return this.context.getBean(type);
        }

        @Override
        public void close() {
            this.context.close();
        }

    }

}
