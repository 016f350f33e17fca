package io.delayqueue.integration.observation;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests health with a real Redis. */
@Tag("server")
class HealthIntegrationTests {

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void isUpOnceWakeUpsAreReceivedAndDownWhileRedisIsAway() {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            Application application = this.applications.withHandler(redis, "delayqueue.command-timeout=500ms");

            Applications.await(() -> assertThat(health(application).getStatus()).isEqualTo(Status.UP));
            assertThat(health(application).getDetails())
                .hasToString("{queues={orders=nothing due}, listeners={orders=running}}");

            redis.close();
            Applications.await(() -> {
                assertThat(health(application).getStatus()).isEqualTo(Status.DOWN);
                assertThat(health(application).getDetails().get("problems").toString())
                    .contains("The store does not answer");
            });
        }
    }

    /**
     * A probe gives up after a second or so, long before a call to a Redis that hangs:
     * its reply is held back here for as long as the test lasts.
     */
    @Test
    void doesNotWaitForARedisThatHangs() throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred()); TcpProxy proxy = TcpProxy.to(redis)) {
            Application application = this.applications.start(Applications.HandlerConfiguration.class,
                    Applications.at(proxy.port(), "delayqueue.command-timeout=1h", "spring.data.redis.timeout=1h"));
            Applications.await(() -> assertThat(health(application).getStatus()).isEqualTo(Status.UP));

            proxy.blackhole();
            CompletableFuture<?> send = CompletableFuture
                .runAsync(() -> application.queue().send("orders", new Order(1), Duration.ofDays(1)));
            Health known = CompletableFuture.supplyAsync(() -> health(application)).get(1, TimeUnit.MINUTES);

            assertThat(known.getStatus()).as("as was known a moment ago").isEqualTo(Status.UP);
            assertThat(known.getDetails()).containsKeys("queues", "listeners");
            assertThat(send).as("waits for its reply still").isNotDone();
            proxy.pass();
            send.get(1, TimeUnit.MINUTES);
        }
    }

    private static Health health(Application application) {
        return application.context().getBean("delayqueueHealthIndicator", HealthIndicator.class).health();
    }

}
