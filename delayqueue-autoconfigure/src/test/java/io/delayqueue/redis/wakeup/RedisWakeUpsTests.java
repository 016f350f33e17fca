package io.delayqueue.redis.wakeup;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.redis.Connections;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUps;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/** How subscriptions are tried again; that they work is told by the integration tests. */
@Tag("server")
class RedisWakeUpsTests {

    private final AwayRunner server = new AwayRunner();

    private final LettuceConnectionFactory factory = mock(LettuceConnectionFactory.class);

    @Test
    void whileTheServerIsAwayAllQueuesTogetherTryOnceAPause() {
        RedisWakeUps wakeUps = new RedisWakeUps(this.factory, new RedisScriptExecutor(this.server, "dq"),
                WakeUpMode.CHANNEL);
        long start = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            wakeUps.listen(Partition.first(new QueueName("queue-" + i)), (signal) -> {
            });
        }

        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.server.calls.get() >= 3);
        long pauses = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(this.server.calls.get()).isLessThanOrEqualTo((int) pauses + 2);
        verifyNoInteractions(this.factory);
        wakeUps.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void whoListensAgainSoonFindsTheConnectionOpen(boolean blocking) throws Exception {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred())) {
            RedisConnectionFactory connections = blocking ? Connections.jedis(own) : Connections.lettuce(own);
            RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofSeconds(30));
            RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL);
            listenOnce(wakeUps);
            awaitChannels(own, true);
            String before = connectionsReceived(own);
            for (int i = 0; i < 20; i++) {
                listenOnce(wakeUps);
            }
            assertThat(connectionsReceived(own)).isEqualTo(before);

            wakeUps.stop();
            awaitChannels(own, false);
            wakeUps.close();
            redis.close();
            ((DisposableBean) connections).destroy();
        }
    }

    private static void listenOnce(RedisWakeUps wakeUps) throws InterruptedException {
        Semaphore rung = new Semaphore(0);
        WakeUps.Subscription subscription = wakeUps.listen(Partition.first(new QueueName("q")),
                (signal) -> rung.release());
        assertThat(rung.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        subscription.close();
    }

    private static void awaitChannels(RedisServer server, boolean some) {
        Awaitility.await().until(() -> server.commands().pubsubChannels().isEmpty() != some);
    }

    private static String connectionsReceived(RedisServer server) {
        return server.commands()
            .info("stats")
            .lines()
            .filter((line) -> line.startsWith("total_connections_received"))
            .findFirst()
            .orElseThrow();
    }

    @Test
    void whoeverListensNoMoreIsForgottenAfterAWhile() {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory connections = Connections.lettuce(own);
            RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofSeconds(30));
            RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL, Duration.ofMillis(100));
            WakeUps.Subscription subscription = wakeUps.listen(Partition.first(new QueueName("q")), (signal) -> {
            });
            awaitChannels(own, true);
            subscription.close();
            awaitChannels(own, false);
            wakeUps.close();
            redis.close();
            connections.destroy();
        }
    }

    @Test
    void keysOfEverNewQueuesAreNotKeptForEver() {
        RedisScriptExecutor redis = new RedisScriptExecutor(this.server, "dq");
        RedisKeys first = redis.keysOf(Partition.first(new QueueName("first")));
        assertThat(redis.keysOf(Partition.first(new QueueName("first")))).isSameAs(first);
        for (int i = 0; i < 10_000; i++) {
            redis.keysOf(Partition.first(new QueueName("queue-" + i)));
        }
        assertThat(redis.keysOf(Partition.first(new QueueName("first")))).isNotSameAs(first);
    }

    private static final class AwayRunner implements ScriptRunner {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
            this.calls.incrementAndGet();
            return CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null));
        }

        @Override
        public void close() {
            // Holds nothing.
        }

    }

}
