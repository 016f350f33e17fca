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
 * P3: how the subscription on every master begins, ends and survives; that messages are
 * found by it is told by the integration tests.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class ClusterSubscriptionTests {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

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
            .atMost(PATIENCE)
            .untilAsserted(() -> assertThat(this.cluster.masters())
                .allSatisfy((master) -> assertThat(master.commands().pubsubNumpat()).isEqualTo(patterns)));
    }

    private static boolean isRung(Semaphore rung) throws InterruptedException {
        return rung.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void theConnectionIsOneForAllQueuesAndEndsWithTheLastWhoListens() throws InterruptedException {
        Semaphore first = new Semaphore(0);
        Semaphore second = new Semaphore(0);
        WakeUps.Subscription ofFirst = this.wakeUps.listen(queue("first"), (signal) -> first.release());
        assertThat(isRung(first)).isTrue();
        WakeUps.Subscription ofSecond = this.wakeUps.listen(queue("second"), (signal) -> second.release());
        assertThat(isRung(second)).isTrue();
        awaitPatterns(2);
        assertThat(this.cluster.masters()).allSatisfy((master) -> assertThat(links(master)).isOne());

        ofFirst.close();
        awaitPatterns(1);
        ofSecond.close();

        Awaitility.await()
            .atMost(PATIENCE)
            .until(() -> this.cluster.masters().stream().allMatch((master) -> links(master) == 0));
        this.wakeUps.listen(queue("first"), (signal) -> first.release());
        awaitPatterns(1);
    }

    private static long links(RedisServer server) {
        return server.commands().clientList(ClientListArgs.Builder.typePubsub()).lines().count();
    }

    @Test
    void aStopEndsTheConnectionAndAStartMakesItAgain() throws InterruptedException {
        Semaphore rung = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> rung.release());
        awaitPatterns(1);

        this.wakeUps.stop();
        awaitPatterns(0);
        rung.drainPermits();
        this.wakeUps.start();

        assertThat(isRung(rung)).isTrue();
        awaitPatterns(1);
    }

    /**
     * The connection factory is stopped next, and may not come upon what is half open.
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
    void aMasterThatRefusesIsAskedAgain(CapturedOutput output) {
        RedisServer strict = this.cluster.masters().get(1);
        strict.commands()
            .aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.removeCommand(CommandType.PSUBSCRIBE));
        Semaphore rung = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> rung.release());
        Awaitility.await().atMost(PATIENCE).until(() -> output.getAll().contains("Cannot subscribe"));
        assertThat(strict.commands().pubsubNumpat()).isZero();
        Awaitility.await().atMost(PATIENCE).until(() -> !this.wakeUps.isHeard(queue("q")));

        strict.commands().aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.addCommand(CommandType.PSUBSCRIBE));

        awaitPatterns(1);
        Awaitility.await().atMost(PATIENCE).until(() -> output.getAll().contains("Subscribed to all wake-ups again"));
        assertThat(rung.availablePermits()).isPositive();
        assertThat(this.wakeUps.isHeard(queue("q"))).isTrue();
    }

    @Test
    void whoListensWhileTheClusterIsAwayDoesNotWaitAndIsToldToLookWhenItIsBack(CapturedOutput output)
            throws InterruptedException {
        this.cluster.masters().forEach(RedisServer::suspend);
        Semaphore rung = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> rung.release());
        Awaitility.await().atMost(PATIENCE).until(() -> output.getAll().contains("Cannot subscribe"));
        assertThat(rung.availablePermits()).isZero();

        this.cluster.masters().forEach(RedisServer::resume);

        assertThat(isRung(rung)).isTrue();
        awaitPatterns(1);
        Awaitility.await().atMost(PATIENCE).until(() -> output.getAll().contains("Subscribed to all wake-ups again"));
    }

    @Test
    void aLinkThatIsLostIsMadeAgainAndWhoListensLooks() throws InterruptedException {
        Semaphore rung = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> rung.release());
        awaitPatterns(1);
        for (RedisServer master : this.cluster.masters()) {
            rung.drainPermits();
            master.commands().clientKill(KillArgs.Builder.typePubsub());
            assertThat(isRung(rung)).isTrue();
        }
        awaitPatterns(1);
    }

    /** P3: open to both ends, while the network between them carries nothing any more. */
    @Test
    void aLinkThatIsHalfOpenIsNoticedAndMadeAgain(CapturedOutput output) throws InterruptedException {
        try (RedisWakeUps beating = new RedisWakeUps(this.factory, this.redis, WakeUpMode.KEYSPACE, Duration.ZERO,
                Duration.ofMillis(500))) {
            Semaphore rung = new Semaphore(0);
            beating.listen(queue("q"), (signal) -> rung.release());
            awaitPatterns(1);
            Awaitility.await().atMost(PATIENCE).until(() -> beating.isHeard(queue("q")));
            for (RedisServer master : this.cluster.masters()) {
                int noticed = output.getAll().split("Nothing is received", -1).length;
                rung.drainPermits();

                assertThat(this.channels.stream()
                    .filter((channel) -> channel.isOpen()
                            && ((InetSocketAddress) channel.remoteAddress()).getPort() == master.port())
                    .filter((channel) -> channel.pipeline().get(Swallowing.class).swallowIfSubscribed())
                    .count()).isOne();

                assertThat(isRung(rung)).as("to look for what was missed").isTrue();
                Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> output.getAll().split("Nothing is received", -1).length == noticed + 1);
                Awaitility.await().atMost(PATIENCE).until(() -> beating.isHeard(queue("q")));
            }
            awaitPatterns(1);
        }
    }

    @Test
    void aMasterThatRefusesAfterALossIsNotHeardWhateverOthersSay() throws InterruptedException {
        Semaphore rung = new Semaphore(0);
        this.wakeUps.listen(queue("q"), (signal) -> rung.release());
        awaitPatterns(1);
        Awaitility.await().atMost(PATIENCE).until(() -> this.wakeUps.isHeard(queue("q")));
        RedisServer strict = this.cluster.masters().get(1);
        strict.commands()
            .aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.removeCommand(CommandType.PSUBSCRIBE));
        strict.commands().clientKill(KillArgs.Builder.typePubsub());
        Awaitility.await().atMost(PATIENCE).until(() -> !this.wakeUps.isHeard(queue("q")));
        rung.drainPermits();

        this.cluster.masters().get(0).commands().clientKill(KillArgs.Builder.typePubsub());

        assertThat(isRung(rung)).isTrue();
        assertThat(this.wakeUps.isHeard(queue("q"))).isFalse();
        strict.commands().aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.addCommand(CommandType.PSUBSCRIBE));
        Awaitility.await().atMost(PATIENCE).until(() -> this.wakeUps.isHeard(queue("q")));
        awaitPatterns(1);
    }

    /** What the proxy does for a single server. */
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
