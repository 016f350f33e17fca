package io.delayqueue.move;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.fixtures.redis.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Runs an application that handles the occurrences of schedules, in this JVM. */
final class OccurrenceConsumer implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private OccurrenceConsumer(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts the listener of the queue {@code orders}. */
    static OccurrenceConsumer start(RedisServer redis) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application
            .setDefaultProperties(Map.of("spring.data.redis.host", redis.host(), "spring.data.redis.port", redis.port(),
                    "delayqueue.namespace", "shop", "spring.main.banner-mode", "off", "logging.level.root", "WARN"));
        return new OccurrenceConsumer(application.run());
    }

    DelayQueueOperations queues() {
        return this.context.getBean(DelayQueueOperations.class);
    }

    /** Returns what was handled, each as the name, {@code @} and the nominal time. */
    List<String> handled() {
        return List.copyOf(this.context.getBean(Orders.class).handled);
    }

    @Override
    public void close() {
        this.context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }

    }

    static class Orders {

        private final List<String> handled = new CopyOnWriteArrayList<>();

        @DelayedListener(value = "orders", concurrency = "8")
        void handle(NewConsumer.Order order, ScheduledOccurrence occurrence) {
            if (order.number() == 42) {
                this.handled.add(occurrence.name() + "@" + occurrence.nominalTime().toEpochMilli());
            }
        }

    }

}
