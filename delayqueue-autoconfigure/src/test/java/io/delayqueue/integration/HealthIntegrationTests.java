package io.delayqueue.integration;

import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

/** What health says of a real Redis. */
class HealthIntegrationTests {

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void isUpOnceWakeUpsAreHeardAndDownWhileRedisIsAway() {
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

    private static Health health(Application application) {
        return application.context().getBean("delayqueueHealthIndicator", HealthIndicator.class).health();
    }

}
