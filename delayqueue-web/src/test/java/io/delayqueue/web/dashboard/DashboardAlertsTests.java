package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.fixtures.redis.SteppedClock;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Checks the alerts for a real Redis. */
@Tag("server")
class DashboardAlertsTests {

    @Test
    void alertsOfEvictionAndOfAClockJump() {
        SteppedClock clock = new SteppedClock();
        try (RedisServer redis = RedisServer.start(RedisBinary.REDIS_6_2, clock, "maxmemory 100mb",
                "maxmemory-policy allkeys-lru");
                ApiServer server = ApiServer.start(RedisUser.asAsked("delayqueue.store=redis",
                        "spring.data.redis.port=" + redis.port(), "delayqueue.web.dashboard.enabled=true"))) {
            server.operations().send("orders", Map.of("order", 1), Duration.ofHours(9));
            awaitAlert(server, "Redis evicts messages when it is full", "allkeys-lru");
            clock.step(Duration.ofHours(-3));

            awaitAlert(server, "The clock of Redis has jumped", "back by about 2 h");
        }
    }

    private static void awaitAlert(ApiServer server, String title, String detail) {
        await().untilAsserted(() -> {
            JsonNode overview = server.get("/delayqueue/data/overview").json();
            assertThat(overview.path("alerts")).anySatisfy((alert) -> {
                assertThat(alert.path("title").asString()).isEqualTo(title);
                assertThat(alert.path("detail").asString()).contains(detail);
            });
        });
    }

}
