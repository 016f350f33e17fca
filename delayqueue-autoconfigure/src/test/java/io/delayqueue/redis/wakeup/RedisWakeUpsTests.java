package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUps;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Subscriptions are retried; integration tests verify that they find messages. */
@Tag("server")
class RedisWakeUpsTests {

    private final AwayRunner server = new AwayRunner();

    private final LettuceConnectionFactory factory = mock(LettuceConnectionFactory.class);

    @Test
    void whileTheServerIsAwayAllQueuesShareOneAttemptPerPause() {
        AtomicInteger attempts = new AtomicInteger();
        given(this.factory.getRequiredNativeClient()).willAnswer((call) -> {
            attempts.incrementAndGet();
            throw new RedisConnectionException("away");
        });
        RedisWakeUps wakeUps = new RedisWakeUps(this.factory, new RedisScriptExecutor(this.server, "dq"),
                WakeUpMode.CHANNEL);
        long start = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            wakeUps.listen(Partition.first(new QueueName("queue-" + i)), (signal) -> {
            });
        }

        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> attempts.get() >= 3);
        // Counted before the time is read, in which there may be another attempt.
        int made = attempts.get();
        long pauses = Duration.ofNanos(System.nanoTime() - start).dividedBy(Duration.ofMillis(500));
        assertThat(made).isLessThanOrEqualTo((int) pauses + 1);
        wakeUps.close();
    }

    /** A first sentinel that is down costs the connect timeout of the client, 10 s. */
    @Test
    void aConnectionThatTakesLongIsAwaited() {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(own);
            AtomicInteger attempts = new AtomicInteger();
            CountDownLatch never = new CountDownLatch(1);
            given(this.factory.getRequiredNativeClient()).willAnswer((call) -> {
                attempts.incrementAndGet();
                // Real time: longer than the limit of an answer on an open connection.
                assertThat(never.await(6, TimeUnit.SECONDS)).isFalse();
                return connections.getRequiredNativeClient();
            });
            Partition queue = Partition.first(new QueueName("q"));
            try (RedisWakeUps wakeUps = new RedisWakeUps(this.factory, new RedisScriptExecutor(this.server, "dq"),
                    WakeUpMode.CHANNEL)) {
                wakeUps.listen(queue, (signal) -> {
                });

                Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> wakeUps.isSubscribed(queue));

                assertThat(attempts).hasValue(1);
            }
            connections.destroy();
        }
    }

    /** Until another connection confirms, only the safety poll would find messages. */
    @Test
    void anAnswerOnAConnectionThatWasGivenUpConfirmsNothing() throws Exception {
        LateAnswers answers = new LateAnswers();
        ClientResources resources = ClientResources.builder().nettyCustomizer(answers).build();
        try (RedisServer own = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory connections = ConnectionFactories
                .started(new LettuceConnectionFactory(ConnectionFactories.at(own),
                        LettuceClientConfiguration.builder().clientResources(resources).build()));
            Partition queue = Partition.first(new QueueName("q"));
            try (RedisWakeUps wakeUps = new RedisWakeUps(connections, new RedisScriptExecutor(this.server, "dq"),
                    WakeUpMode.CHANNEL)) {
                wakeUps.listen(queue, (signal) -> {
                });
                assertThat(answers.delayed.await(1, TimeUnit.MINUTES)).isTrue();

                wakeUps.stop();

                assertThat(answers.delivered.await(1, TimeUnit.MINUTES)).isTrue();
                assertThat(wakeUps.isSubscribed(queue)).isFalse();
            }
            connections.destroy();
        }
        finally {
            resources.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void aListenerThatReturnsSoonReusesTheConnection(boolean blocking) throws Exception {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred())) {
            RedisConnectionFactory connections = blocking ? ConnectionFactories.jedis(own)
                    : ConnectionFactories.lettuce(own);
            RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofSeconds(30));
            RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL);
            listenOnce(wakeUps);
            awaitChannels(own, true);
            String before = connectionsReceived(own);
            String channel = own.commands().pubsubChannels().get(0);
            try (WakeUps.Subscription stays = wakeUps.listen(Partition.first(new QueueName("q")), (signal) -> {
            })) {
                listenOnce(wakeUps);
                assertThat(own.commands().pubsubNumsub(channel)).as("of all listeners together")
                    .containsEntry(channel, 1L);
            }
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
        Semaphore notified = new Semaphore(0);
        WakeUps.Subscription subscription = wakeUps.listen(Partition.first(new QueueName("q")),
                (signal) -> notified.release());
        assertThat(notified.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
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
    void aQueueWithoutListenersIsUnsubscribedAfterAWhile() {
        try (RedisServer own = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(own);
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
    void theCacheOfKeysIsBounded() {
        RedisScriptExecutor redis = new RedisScriptExecutor(this.server, "dq");
        RedisKeys first = redis.keysOf(Partition.first(new QueueName("first")));
        assertThat(redis.keysOf(Partition.first(new QueueName("first")))).isSameAs(first);
        for (int i = 0; i < 10_000; i++) {
            redis.keysOf(Partition.first(new QueueName("queue-" + i)));
        }
        assertThat(redis.keysOf(Partition.first(new QueueName("first")))).isNotSameAs(first);
    }

    /**
     * Delivers the answer to a subscription only when the client closes the connection.
     */
    private static final class LateAnswers implements NettyCustomizer {

        private final CountDownLatch delayed = new CountDownLatch(1);

        private final CountDownLatch delivered = new CountDownLatch(1);

        @Override
        public void afterChannelInitialized(Channel channel) {
            channel.pipeline().addFirst(new ChannelDuplexHandler() {

                private boolean subscribed;

                private @Nullable Object answer;

                @Override
                public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
                    this.subscribed |= message instanceof ByteBuf bytes
                            && bytes.toString(StandardCharsets.ISO_8859_1).contains("SUBSCRIBE");
                    context.write(message, promise);
                }

                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    if (!this.subscribed || this.answer != null) {
                        context.fireChannelRead(message);
                        return;
                    }
                    this.answer = message;
                    LateAnswers.this.delayed.countDown();
                }

                @Override
                public void close(ChannelHandlerContext context, ChannelPromise promise) {
                    if (this.answer != null) {
                        context.fireChannelRead(this.answer);
                        LateAnswers.this.delivered.countDown();
                    }
                    context.close(promise);
                }

            });
        }

    }

    private static final class AwayRunner implements ScriptRunner {

        @Override
        public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null));
        }

        @Override
        public void close() {
            // Holds nothing.
        }

    }

}
