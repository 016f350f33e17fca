package io.delayqueue.redis.contract;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisActivityStore;
import io.delayqueue.redis.RedisNodeRegistry;
import io.delayqueue.redis.RedisPartitionLayoutStore;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisQueueRegistry;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.contract.MessageStoreContract;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.ScheduleStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the contract of the store on Redis, with any topology and client. Each test class
 * provides the connections.
 */
abstract class RedisStoreContract extends MessageStoreContract {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final String namespace = "contract-" + UUID.randomUUID();

    private final ManualClock clock = new ManualClock();

    private final PinnedTimeRunner runner = new PinnedTimeRunner(RedisScriptExecutor.runner(factory(), LIMIT),
            this.clock);

    private final RedisScriptExecutor redis = new RedisScriptExecutor(this.runner, this.namespace);

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final RedisMessageInspector inspector = new RedisMessageInspector(this.redis,
            new EnvelopeCodec(JsonMapper.builder().build()));

    private @Nullable RedisWakeUps wakeUps;

    /**
     * Returns the connections to the Redis under test; the same for all cases of a class.
     */
    abstract RedisConnectionFactory factory();

    @Override
    public MessageStore store() {
        return this.store;
    }

    @Override
    public MessageInspector inspector() {
        return this.inspector;
    }

    @Override
    public PartitionLayoutStore records() {
        return new RedisPartitionLayoutStore(this.redis);
    }

    @Override
    public QueueInspector queueInspector() {
        return new RedisQueueInspector(this.redis);
    }

    @Override
    public QueueRegistry registry() {
        return new RedisQueueRegistry(this.redis);
    }

    @Override
    public NodeRegistry nodes() {
        return new RedisNodeRegistry(this.redis);
    }

    @Override
    public ActivityStore activity() {
        return new RedisActivityStore(this.redis);
    }

    @Override
    public ScheduleStore schedules() {
        return new RedisScheduleStore(this.redis);
    }

    @Override
    public WakeUps wakeUps() {
        if (this.wakeUps == null) {
            this.wakeUps = new RedisWakeUps(factory(), this.redis, WakeUpMode.CHANNEL);
        }
        return this.wakeUps;
    }

    @Override
    public ManualClock clock() {
        return this.clock;
    }

    @Override
    public <T> T replay(Supplier<T> call) {
        this.runner.twice(true);
        try {
            return call.get();
        }
        finally {
            this.runner.twice(false);
        }
    }

    @Override
    public boolean replaysStamps() {
        return true;
    }

    @Override
    public boolean ringsWhenSubscribed() {
        return true;
    }

    @Override
    public void assertNothingLeft() {
        assertThat(keys()).allMatch((key) -> key.endsWith(":partitions") || key.endsWith(":primary")
                || key.endsWith(":journal") || key.contains(":{_directory}:"));
    }

    private Set<String> keys() {
        Set<String> names = new TreeSet<>();
        try (RedisConnection connection = ConnectionFactories.ofFixture(factory())) {
            byte[] pattern = (this.namespace + ":*").getBytes(StandardCharsets.UTF_8);
            connection.keyCommands().keys(pattern).forEach((key) -> names.add(new String(key, StandardCharsets.UTF_8)));
        }
        return names;
    }

    @AfterEach
    void close() {
        if (this.wakeUps != null) {
            this.wakeUps.stop();
            this.wakeUps.close();
        }
        this.redis.close();
    }

}
