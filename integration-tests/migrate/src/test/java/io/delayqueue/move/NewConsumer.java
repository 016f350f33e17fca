package io.delayqueue.move;

import java.util.Map;
import java.util.function.Consumer;

import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.redis.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** Runs the application as it is after the migration, in this JVM. */
final class NewConsumer implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private NewConsumer(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts the listener of the queue {@code orders}. */
    static NewConsumer start(RedisServer redis, Consumer<Order> handler) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application
            .setDefaultProperties(Map.of("spring.data.redis.host", redis.host(), "spring.data.redis.port", redis.port(),
                    "delayqueue.namespace", "shop", "spring.main.banner-mode", "off", "logging.level.root", "WARN"));
        application.addInitializers((context) -> ((GenericApplicationContext) context).registerBean("orders",
                Orders.class, () -> new Orders(handler)));
        return new NewConsumer(application.run());
    }

    @Override
    public void close() {
        this.context.close();
    }

    /**
     * Holds the payload.
     *
     * @param number the number of the order
     * @param note a text
     */
    record Order(long number, String note) {
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

    }

    static class Orders {

        private final Consumer<Order> handler;

        Orders(Consumer<Order> handler) {
            this.handler = handler;
        }

        @DelayedListener(value = "orders", concurrency = "8")
        void handle(Order order) {
            this.handler.accept(order);
        }

    }

}
