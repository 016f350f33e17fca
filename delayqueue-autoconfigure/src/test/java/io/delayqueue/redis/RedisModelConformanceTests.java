package io.delayqueue.redis;

import java.time.Duration;
import java.util.Random;
import java.util.UUID;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.model.Conformance;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Compares Redis with the model on random walks, including repeated calls. */
@Tag("server")
class RedisModelConformanceTests {

    private static final int WALKS = Integer.getInteger("dq.model.walks", 8);

    @Test
    void redisReturnsTheResultsOfTheModel() {
        long seed = Long.getLong("dq.seed", System.nanoTime());
        System.out.println("Ways of the model with -Ddq.seed=" + seed);
        Random random = new Random(seed);
        EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());
        ManualClock clock = new ManualClock();
        LettuceConnectionFactory factory = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
        PinnedTimeRunner runner = new PinnedTimeRunner(RedisScriptExecutor.runner(factory, Duration.ofSeconds(30)),
                clock);
        RedisScriptExecutor redis = new RedisScriptExecutor(runner, "model-" + UUID.randomUUID());
        try {
            for (int walk = 0; walk < WALKS; walk++) {
                new Conformance(new RedisMessageStore(redis), new RedisMessageInspector(redis, codec), clock,
                        runner::twice, walk)
                    .walk(random, 40, true);
            }
        }
        finally {
            redis.close();
            factory.destroy();
        }
    }

}
