package io.delayqueue.bare;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.embedded.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that the dependencies of the starter suffice to send and to handle. */
@Tag("server")
class BareStarterTests {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static RedisServer redis;

    private static int port;

    @BeforeAll
    static void startRedis() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        redis = RedisServer.builder().port(port).bind("127.0.0.1").setting("save \"\"").build();
        redis.start();
    }

    @AfterAll
    static void stopRedis() throws IOException {
        redis.stop();
    }

    /** Otherwise this module tests what others do already. */
    @ParameterizedTest
    @ValueSource(strings = { "org.springframework.boot.actuate.endpoint.annotation.Endpoint",
            "org.springframework.boot.health.contributor.HealthIndicator",
            "io.micrometer.core.instrument.MeterRegistry", "io.micrometer.tracing.Tracer",
            "org.springframework.web.servlet.DispatcherServlet", "jakarta.servlet.Servlet",
            "jakarta.validation.Validator", "org.springframework.security.web.SecurityFilterChain",
            "redis.clients.jedis.Jedis", "org.springframework.boot.test.context.SpringBootTest",
            "org.springframework.jdbc.core.JdbcTemplate" })
    void nothingElseIsThere(String type) {
        assertThat(ClassUtils.isPresent(type, null)).isFalse();
    }

    @Test
    void theExcludedDependencyOfThisExecutionIsAbsent() {
        String absent = System.getProperty("test.absent");
        assertThat(absent != null && ClassUtils.isPresent(absent, null)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = { "redis", "memory" })
    void anApplicationSendsAndHandles(String store) throws InterruptedException {
        SpringApplication application = new SpringApplication(Shop.class);
        try (ConfigurableApplicationContext context = application.run("--delayqueue.store=" + store,
                "--spring.data.redis.port=" + port, "--delayqueue.namespace=bare", "--spring.main.banner-mode=off")) {
            context.getBean(DelayQueueTemplate.class)
                .send(DelayedMessage.builder("orders", new Order(42, "north"))
                    .delay(Duration.ofMillis(20))
                    .header("tenant", "t")
                    .build());

            assertThat(context.getBean(Orders.class).handled.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo("Order[id=42, region=north] of t, attempt 1");
            assertThat(context.getBean(DelayQueueOperations.class).find("orders", "unknown")).isEmpty();
            assertThat(context.getBean(DelayQueueInspector.class).queues(null, 10).queues()).containsExactly("orders");
        }
    }

    record Order(long id, String region) {
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Shop {

    }

    @Component
    static class Orders {

        final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

        @DelayedListener("orders")
        void handle(Order order, @Header("tenant") String tenant, Delivery delivery) {
            this.handled.add("%s of %s, attempt %d".formatted(order, tenant, delivery.attempt()));
        }

    }

}
