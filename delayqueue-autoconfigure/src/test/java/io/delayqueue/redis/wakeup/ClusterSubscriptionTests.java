package io.delayqueue.redis.wakeup;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUps;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ClientListArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: the subscription to every master begins, ends and is replaced. Integration tests
 * verify that it finds messages.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
@Tag("matrix")
class ClusterSubscriptionTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final int ROUNDS = 5;

    private final RedisCluster cluster = RedisCluster.start(RedisBinary.preferred());

    /** Every connection that the client has made. */
    private final List<Channel> channels = new CopyOnWriteArrayList<>();

    private final ClientResources resources = ClientResources.builder().nettyCustomizer(new NettyCustomizer() {

        @Override
        public void afterChannelInitialized(Channel channel) {
            channel.pipeline().addFirst(new Swallowing());
            ClusterSubscriptionTests.this.channels.add(channel);
        }

    }).build();

    private final LettuceConnectionFactory factory = ConnectionFactories
        .started(new LettuceConnectionFactory(ConnectionFactories.at(this.cluster),
                LettuceClientConfiguration.builder().clientResources(this.resources).build()));

    private final RedisScriptExecutor redis = RedisScriptExecutor.to(this.factory, "dq", Duration.ofSeconds(5));

    private final RedisWakeUps wakeUps = new RedisWakeUps(this.factory, this.redis, WakeUpMode.KEYSPACE, Duration.ZERO);

    @AfterEach
    void stop() {
        this.wakeUps.close();
        this.redis.close();
        this.factory.destroy();
        this.resources.shutdown(0, 0, TimeUnit.SECONDS);
        this.cluster.close();
    }

    private static Partition queue(String name) {
        return Partition.first(new QueueName(name));
    }

    private void awaitPatterns(long patterns) {
        Awaitility.await()
            .atMost(TIMEOUT)
            .untilAsserted(() -> assertThat(this.cluster.masters())
                .allSatisfy((master) -> assertThat(master.commands().pubsubNumpat()).isEqualTo(patterns)));
    }

    private static boolean isNotified(Semaphore notified) throws InterruptedException {
        return notified.tryAcquire(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void allQueuesShareAConnectionWhichEndsWithTheLastListener() throws InterruptedException {
        Semaphore first = new Semaphore(0);
        Semaphore second = new Semaphore(0);
        WakeUps.Subscription ofFirst = this.wakeUps.listen(queue("first"), (signal) -> first.release());
        assertThat(isNotified(first)).isTrue();
        WakeUps.Subscription ofSecond = this.wakeUps.listen(queue("second"), (signal) -> second.release());
        assertThat(isNotified(second)).isTrue();
        awaitPatterns(2);
        assertThat(this.cluster.masters()).allSatisfy((master) -> assertThat(links(master)).isOne());

        ofFirst.close();
        awaitPatterns(1);
        ofSecond.close();

        Awaitility.await()
            .atMost(TIMEOUT)
            .until(() -> this.cluster.masters().stream().allMatch((master) -> links(master) == 0));
        this.wakeUps.listen(queue("first"), (signal) -> first.release());
        awaitPatterns(1);
    }

    private static long links(RedisServer server) {
        return server.commands().clientList(ClientListArgs.Builder.typePubsub()).lines().count();
    }

    @Test
    void aStopEndsTheConnectionAndAStartReplacesIt() throws InterruptedException {
        Semaphore notified = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> notified.release());
        awaitPatterns(1);

        this.wakeUps.stop();
        awaitPatterns(0);
        notified.drainPermits();
        this.wakeUps.start();

        assertThat(isNotified(notified)).isTrue();
        awaitPatterns(1);
    }

    /**
     * The connection factory is stopped next, and must not find a half-open connection.
     */
    @Test
    void aStopWaitsForTheEndOfEveryConnection() {
        this.wakeUps.listen(queue("q"), (signal) -> {
        });
        for (int round = 0; round < ROUNDS; round++) {
            awaitPatterns(1);
            assertThat(this.channels).anyMatch(Channel::isOpen);

            this.wakeUps.stop();

            assertThat(this.channels).noneMatch(Channel::isOpen);
            this.wakeUps.start();
        }
    }

    @Test
    void aSubscriptionThatAMasterRejectsIsRetried(CapturedOutput output) {
        RedisServer strict = this.cluster.masters().get(1);
        strict.commands()
            .aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.removeCommand(CommandType.PSUBSCRIBE));
        Semaphore notified = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> notified.release());
        Awaitility.await().atMost(TIMEOUT).until(() -> output.getAll().contains("Cannot subscribe"));
        assertThat(strict.commands().pubsubNumpat()).isZero();
        Awaitility.await().atMost(TIMEOUT).until(() -> !this.wakeUps.isSubscribed(queue("q")));

        strict.commands().aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.addCommand(CommandType.PSUBSCRIBE));

        awaitPatterns(1);
        Awaitility.await().atMost(TIMEOUT).until(() -> output.getAll().contains("Subscribed to all wake-ups again"));
        assertThat(notified.availablePermits()).isPositive();
        assertThat(this.wakeUps.isSubscribed(queue("q"))).isTrue();
    }

    @Test
    void aListenerAddedWhileTheClusterIsAwayPollsWhenItIsBack(CapturedOutput output) throws InterruptedException {
        this.cluster.masters().forEach(RedisServer::suspend);
        Semaphore notified = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> notified.release());
        Awaitility.await().atMost(TIMEOUT).until(() -> output.getAll().contains("Cannot subscribe"));
        assertThat(notified.availablePermits()).isZero();

        this.cluster.masters().forEach(RedisServer::resume);

        assertThat(isNotified(notified)).isTrue();
        awaitPatterns(1);
        Awaitility.await().atMost(TIMEOUT).until(() -> output.getAll().contains("Subscribed to all wake-ups again"));
    }

    @Test
    void aLostLinkIsReplacedAndListenersPoll() throws InterruptedException {
        Semaphore notified = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> notified.release());
        awaitPatterns(1);
        for (RedisServer master : this.cluster.masters()) {
            notified.drainPermits();
            master.commands().clientKill(KillArgs.Builder.typePubsub());
            assertThat(isNotified(notified)).isTrue();
        }
        awaitPatterns(1);
    }

    /** P3: both ends have an open connection, and the network drops all packets. */
    @Test
    void aHalfOpenLinkIsDetectedAndReplaced(CapturedOutput output) throws InterruptedException {
        try (RedisWakeUps beating = new RedisWakeUps(this.factory, this.redis, WakeUpMode.KEYSPACE, Duration.ZERO,
                Duration.ofMillis(500))) {
            Semaphore notified = new Semaphore(0);
            beating.listen(queue("q"), (signal) -> notified.release());
            awaitPatterns(1);
            Awaitility.await().atMost(TIMEOUT).until(() -> beating.isSubscribed(queue("q")));
            for (RedisServer master : this.cluster.masters()) {
                int noticed = output.getAll().split("Nothing is received", -1).length;
                notified.drainPermits();

                assertThat(this.channels.stream()
                    .filter((channel) -> channel.isOpen()
                            && ((InetSocketAddress) channel.remoteAddress()).getPort() == master.port())
                    .filter((channel) -> channel.pipeline().get(Swallowing.class).swallowIfSubscribed())
                    .count()).isOne();

                assertThat(isNotified(notified)).as("to poll for missed messages").isTrue();
                Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> output.getAll().split("Nothing is received", -1).length == noticed + 1);
                Awaitility.await().atMost(TIMEOUT).until(() -> beating.isSubscribed(queue("q")));
            }
            awaitPatterns(1);
        }
    }

    @Test
    void aMasterThatRejectsAfterALossIsNotSubscribedWhateverOthersConfirm() throws InterruptedException {
        Semaphore notified = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> notified.release());
        awaitPatterns(1);
        Awaitility.await().atMost(TIMEOUT).until(() -> this.wakeUps.isSubscribed(queue("q")));
        RedisServer strict = this.cluster.masters().get(1);
        strict.commands()
            .aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.removeCommand(CommandType.PSUBSCRIBE));
        strict.commands().clientKill(KillArgs.Builder.typePubsub());
        Awaitility.await().atMost(TIMEOUT).until(() -> !this.wakeUps.isSubscribed(queue("q")));
        notified.drainPermits();

        this.cluster.masters().get(0).commands().clientKill(KillArgs.Builder.typePubsub());

        assertThat(isNotified(notified)).isTrue();
        assertThat(this.wakeUps.isSubscribed(queue("q"))).isFalse();
        strict.commands().aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.addCommand(CommandType.PSUBSCRIBE));
        Awaitility.await().atMost(TIMEOUT).until(() -> this.wakeUps.isSubscribed(queue("q")));
        awaitPatterns(1);
    }

    /**
     * Discards the data of a connection, as {@code TcpProxy} does for a single server.
     */
    private static final class Swallowing extends ChannelDuplexHandler {

        private volatile boolean subscribed;

        private volatile boolean swallowing;

        private boolean swallowIfSubscribed() {
            this.swallowing |= this.subscribed;
            return this.swallowing;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            if (this.swallowing) {
                ReferenceCountUtil.release(message);
                promise.setSuccess();
                return;
            }
            this.subscribed |= message instanceof ByteBuf bytes
                    && bytes.toString(StandardCharsets.ISO_8859_1).contains("SUBSCRIBE");
            context.write(message, promise);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (this.swallowing) {
                ReferenceCountUtil.release(message);
                return;
            }
            context.fireChannelRead(message);
        }

    }

}
