package io.delayqueue.integration;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.integration.OrderHandler.Order;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application in a JVM of its own, to be killed, stopped, or shown another time. Says
 * on standard output what it handles, and ends when standard input does, so that it does
 * not outlive its parent; see {@link ChildJvm}.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class ChildApplication {

    /** An order whose handler waits until it is told to go on. */
    static final int WAITS = 1;

    /** An order whose handler ends the JVM. */
    static final int POISON = 666;

    public static void main(String[] arguments) {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(ChildApplication.class)
            .web(WebApplicationType.NONE)
            .run(arguments);
        int number = context.getEnvironment().getProperty("test.send-from", Integer.class, 0);
        for (int i = 0; i < 5 && number > 0; i++) {
            context.getBean(DelayQueueOperations.class)
                .send("orders", new Order(number + i), Duration.ofMillis(200 + 100 * i));
        }
        System.out.println("READY " + Instant.now());
    }

    @Bean
    Handler handler() {
        return new Handler();
    }

    static final class Handler {

        private final Semaphore goOn = new Semaphore(0);

        Handler() {
            Thread reader = new Thread(this::listen, "parent");
            reader.setDaemon(true);
            reader.start();
        }

        /** Each byte lets a handler go on; the end is that of the parent, and of this. */
        private void listen() {
            try {
                while (System.in.read() >= 0) {
                    this.goOn.release();
                }
            }
            catch (IOException ex) {
                System.out.println(ex);
            }
            Runtime.getRuntime().halt(2);
        }

        @DelayedListener("orders")
        void handle(Order order, Delivery delivery) throws Exception {
            System.out.println("HANDLING %d attempt %d lapses %d due %s late %s".formatted(order.number(),
                    delivery.attempt(), delivery.lapses(), delivery.dueAt(), delivery.lateness()));
            if (order.number() == POISON) {
                System.out.flush();
                Runtime.getRuntime().halt(1);
            }
            if (order.number() == WAITS) {
                this.goOn.acquire();
            }
        }

    }

}
