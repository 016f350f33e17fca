package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** P3: wake-ups arrive with a static list of a master and its replicas. */
@Tag("server")
class StaticNodesSubscriptionTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final String USER = "shop";

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("orders"));

    private static final Partition QUEUE = HOME.partition();

    private final RedisServer master = RedisServer.start(RedisBinary.preferred());

    private final RedisServer replica = RedisServer.start(RedisBinary.preferred(),
            "replicaof %s %d".formatted(this.master.host(), this.master.port()));

    private final Semaphore notified = new Semaphore(0);

    private LettuceConnectionFactory connections;

    private RedisScriptExecutor redis;

    private RedisWakeUps wakeUps;

    @BeforeEach
    void listen() {
        Awaitility.await()
            .atMost(TIMEOUT)
            .until(() -> this.master.commands().info("replication").contains("state=online"));
        List<String> rules = Stream.concat(RedisUser.documented().stream(), RedisUser.documentedWith("+role").stream())
            .toList();
        RedisUser.set(this.master, USER, rules);
        RedisUser.set(this.replica, USER, rules);
        RedisStaticMasterReplicaConfiguration nodes = new RedisStaticMasterReplicaConfiguration(this.replica.host(),
                this.replica.port());
        nodes.addNode(this.master.host(), this.master.port());
        nodes.setUsername(USER);
        nodes.setPassword(RedisUser.PASSWORD);
        this.connections = ConnectionFactories.started(new LettuceConnectionFactory(nodes));
        this.redis = RedisScriptExecutor.to(this.connections, USER, Duration.ofSeconds(30));
        this.wakeUps = new RedisWakeUps(this.connections, this.redis, WakeUpMode.CHANNEL);
        this.wakeUps.listen(QUEUE, (signal) -> this.notified.release());
        awaitSubscribed(this.replica);
    }

    @AfterEach
    void stop() {
        this.wakeUps.close();
        this.redis.close();
        this.connections.destroy();
        this.replica.close();
        this.master.close();
    }

    @Test
    void theFirstNodeSendsTheWakeUpsOfTheMaster() throws InterruptedException {
        assertThatASendNotifies("a");
    }

    @Test
    void theNextNodeIsUsedIfTheFirstIsAway() throws InterruptedException {
        this.replica.kill();

        awaitSubscribed(this.master);
        assertThatASendNotifies("a");
    }

    private void awaitSubscribed(RedisServer server) {
        String channel = this.redis.keysOf(QUEUE).wake();
        Awaitility.await()
            .atMost(TIMEOUT)
            .until(() -> server.commands().pubsubChannels().contains(channel) && this.wakeUps.isSubscribed(QUEUE));
    }

    private void assertThatASendNotifies(String id) throws InterruptedException {
        this.notified.drainPermits();
        byte[] envelope = "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);

        new RedisMessageStore(this.redis)
            .schedule(HOME,
                    List.of(new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY,
                            null, null, envelope)))
            .join();

        assertThat(this.notified.tryAcquire(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

}
