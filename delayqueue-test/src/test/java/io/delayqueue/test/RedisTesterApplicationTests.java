package io.delayqueue.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.actuator.DelayQueueHealthIndicator;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.test.TestListener.Order;
import io.delayqueue.test.autoconfigure.AutoConfigureDelayQueueTester;
import io.delayqueue.test.autoconfigure.TestStoreType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static io.delayqueue.test.TestListener.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;

/** Verifies the tester in a whole application on Redis. */
@SpringBootTest
@AutoConfigureDelayQueueTester(store = TestStoreType.REDIS)
@Tag("server")
class RedisTesterApplicationTests {

    @Autowired
    private DelayQueueTester tester;

    @Autowired
    private DelayQueueOperations queue;

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("delayqueue.test.redis-binary", RedisBinary.REDIS_7_0::path);
    }

    /** The loops receive wake-ups of the tester, not those of Redis. */
    @Test
    void isHealthy(@Autowired DelayQueueHealthIndicator indicator) {
        Health health = indicator.health();
        assertThat(health).isNotNull();
        assertThat(health.getStatus()).as(health.toString()).isEqualTo(Status.UP);
    }

    @Test
    void contextThatWasPausedContinues(@Autowired ConfigurableApplicationContext context) {
        context.pause();
        context.restart();
        this.queue.send(ORDERS, Order.of(1), Duration.ofMinutes(30));

        assertThat(this.tester.advance(Duration.ofMinutes(30))).hasSucceeded(1).hasNoOthers();
    }

    /** Redis would remove it in real time. */
    @Test
    void keyOfDuplicateWindowsDoesNotExpire(@Autowired RedisConnectionFactory connections) {
        this.queue.send(
                DelayedMessage.builder(ORDERS, Order.of(1)).id("order-1").duplicateWindow(Duration.ofDays(1)).build());
        assertThat(this.tester.drain()).hasSucceeded(1).hasNoOthers();

        try (RedisConnection connection = connections.getConnection()) {
            Set<byte[]> keys = connection.keyCommands().keys("*:{orders}:duplicates".getBytes(StandardCharsets.UTF_8));
            assertThat(keys).hasSize(1)
                .allSatisfy((key) -> assertThat(connection.keyCommands().ttl(key)).isEqualTo(-1));
        }
    }

}
