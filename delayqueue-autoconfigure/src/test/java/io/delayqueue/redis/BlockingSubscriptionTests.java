package io.delayqueue.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.WakeUps;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1, P5: with a client that waits while it is subscribed, the end of a subscription
 * leaves no answer behind that somebody else would take for its own.
 */
class BlockingSubscriptionTests {

    private static final int ROUNDS = 100;

    private static final QueueName QUEUE = new QueueName("q");

    @ParameterizedTest
    @EnumSource(names = { "CHANNEL", "KEYSPACE" })
    void connectionsAreCleanAfterSubscriptions(WakeUpMode mode) throws InterruptedException {
        JedisConnectionFactory factory = Connections.jedis(RedisServer.shared(RedisBinary.preferred()));
        RedisAccess redis = RedisAccess.to(factory, "blocking-" + UUID.randomUUID(), Duration.ofSeconds(30));
        RedisMessageInspector inspector = new RedisMessageInspector(redis,
                new EnvelopeCodec(JsonMapper.builder().build()));
        try (RedisWakeUps wakeUps = new RedisWakeUps(factory, redis, mode)) {
            for (int round = 0; round < ROUNDS; round++) {
                Semaphore rung = new Semaphore(0);
                WakeUps.Subscription subscription = wakeUps.listen(QUEUE, rung::release);
                assertThat(rung.tryAcquire(30, TimeUnit.SECONDS)).isTrue();

                subscription.close();

                for (int call = 0; call < 10; call++) {
                    assertThat(inspector.statistics(QUEUE).join())
                        .isEqualTo(new QueueStatistics("q", 0, 0, 0, 0, null));
                }
            }
        }
        finally {
            factory.destroy();
        }
    }

}
