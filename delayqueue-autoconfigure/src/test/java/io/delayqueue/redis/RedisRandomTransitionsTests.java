package io.delayqueue.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.EachRedisVersion;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.fixtures.store.RandomTransitions;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.redis.check.RedisIntegrityChecker;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies P1 to P11 by random calls: Redis returns the results of the model, its keys
 * are consistent, and none is left at the end.
 */
@Tag("server")
class RedisRandomTransitionsTests {

    private static final int STEPS = Integer.getInteger("dq.random.steps", 300);

    /** Number of steps between two checks of all keys, which take longer. */
    private static final int STEPS_PER_CHECK = 20;

    private final ManualClock clock = new ManualClock();

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    @EachRedisVersion
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void redisReturnsTheResultsOfTheModel(RedisBinary binary) {
        LettuceConnectionFactory factory = ConnectionFactories.lettuce(RedisServer.shared(binary));
        String namespace = "random-" + UUID.randomUUID();
        RedisScriptExecutor redis = new RedisScriptExecutor(
                new PinnedTimeRunner(RedisScriptExecutor.runner(factory, Duration.ofSeconds(30)), this.clock),
                namespace);
        InMemoryMessageStore memory = new InMemoryMessageStore(this.codec, this.clock);
        RedisIntegrityChecker checker = new RedisIntegrityChecker(redis, () -> factory, this.codec);
        AtomicInteger step = new AtomicInteger();
        KeyInvariants audit = new KeyInvariants(factory, namespace, RandomTransitions.QUEUE);
        RandomTransitions transitions = new RandomTransitions(RandomTransitions.seed(), this.clock,
                new RandomTransitions.Ports(memory, memory, memory.queueInspector()),
                new RandomTransitions.Ports(new RedisMessageStore(redis), new RedisMessageInspector(redis, this.codec),
                        new RedisQueueInspector(redis)),
                new RandomTransitions.Checks(() -> {
                    audit.check();
                    if (step.incrementAndGet() % STEPS_PER_CHECK == 0) {
                        assertThat(checker.check(RandomTransitions.QUEUE.queue().value()).findings()).isEmpty();
                    }
                }, audit::checkNothingLeft));
        try {
            transitions.walk(STEPS);
            transitions.drain();
        }
        finally {
            redis.close();
            factory.destroy();
        }
    }

}
