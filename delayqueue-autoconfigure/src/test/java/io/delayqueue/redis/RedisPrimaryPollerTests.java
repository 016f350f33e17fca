package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.PrimaryPollerBid.Kind;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the role of the primary poller (P3): the bids of claims, and their record. */
@Tag("server")
class RedisPrimaryPollerTests {

    private static final Partition QUEUE = Partition.first(new QueueName("polled"));

    private static final Duration LATER = Duration.ofSeconds(9);

    private static final Duration TERM = Duration.ofSeconds(6);

    private static final Duration LEASE = Duration.ofMinutes(1);

    private static LettuceConnectionFactory connections;

    private final String namespace = "primary-" + UUID.randomUUID();

    private final ManualClock clock = new ManualClock();

    private final RedisMessageStore store = new RedisMessageStore(new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            this.namespace));

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Test
    void theFirstBidAcquiresTheRoleAndTheSecondDoesNot() {
        assertThat(claim("a", Kind.ACQUIRE, 2).primaryPoller()).isTrue();
        assertThat(claim("b", Kind.ACQUIRE, 0).primaryPoller()).isFalse();

        assertThat(text("primary")).isEqualTo("a 3");
        assertThat(term()).isBetween(1L, TERM.toMillis());
    }

    @Test
    void aFullRedisRemovesTheWakeMarkThatItMayNotSet() {
        try (RedisServer full = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory own = ConnectionFactories.lettuce(full);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(own, "full", Duration.ofSeconds(30))) {
                RedisMessageStore there = new RedisMessageStore(redis);
                there
                    .schedule(PartitionTarget.first(QUEUE.queue()),
                            List.of(NewMessage.of("m", DueTime.after(LATER), new byte[0])))
                    .join();
                assertThat(full.commands().exists("full:{polled}:wake")).isOne();
                full.commands().configSet("maxmemory", "1");

                there.claim(QUEUE, new ClaimRequest(10, LEASE, ExpiryPolicy.DROP, bid("a", Kind.RENEW, 0))).join();

                assertThat(full.commands().exists("full:{polled}:wake")).isZero();
            }
            finally {
                own.destroy();
            }
        }
    }

    @Test
    void aRenewedRoleUpdatesTheLoad() {
        claim("a", Kind.ACQUIRE, 0);

        assertThat(claim("a", Kind.ACQUIRE, 4).primaryPoller()).isTrue();
        assertThat(text("primary")).isEqualTo("a 5");
    }

    @Test
    void aStandbyNodeThatClaimsAnOverdueMessageTakesTheRole() {
        claim("a", Kind.ACQUIRE, 0);
        send("m");
        this.clock.advance(PrimaryPollerBid.GRACE.minusMillis(1));
        assertThat(claim("b", Kind.ACQUIRE, 0).primaryPoller()).isFalse();
        send("n");
        this.clock.advance(PrimaryPollerBid.GRACE);

        assertThat(claim("b", Kind.ACQUIRE, 0).primaryPoller()).isTrue();
        assertThat(text("primary")).isEqualTo("b 1");
    }

    @Test
    void aPrimaryPollerWithABacklogKeepsTheRole() {
        claim("a", Kind.ACQUIRE, 0);
        send("m");
        send("n");
        this.clock.advance(PrimaryPollerBid.GRACE);

        assertThat(claim(1, bid("b", Kind.ACQUIRE, 0)).primaryPoller()).isFalse();
        assertThat(text("primary")).isEqualTo("a 1");
    }

    @Test
    void aLapsedLeaseIsNoEvidenceThatThePrimaryPollerIsGone() {
        claim("a", Kind.ACQUIRE, 0);
        this.store
            .schedule(PartitionTarget.first(QUEUE.queue()),
                    List.of(new NewMessage("m", false, DueTime.NOW, OnDuplicate.KEEP, 9, null, null, body())))
            .join();
        assertThat(claim("a", Kind.ACQUIRE, 0).messages()).hasSize(1);
        this.clock.advance(LEASE);

        ClaimResult claim = claim("b", Kind.ACQUIRE, 0);
        assertThat(claim.messages()).hasSize(1);
        assertThat(claim.primaryPoller()).isFalse();
        this.clock.advance(LEASE.plus(PrimaryPollerBid.GRACE));
        assertThat(claim("b", Kind.ACQUIRE, 0).primaryPoller()).isTrue();
    }

    /** Its due time is older than its release. */
    @Test
    void aReleasedMessageIsNoEvidenceThatThePrimaryPollerIsGone() {
        send("m");
        ClaimResult first = claim("a", Kind.ACQUIRE, 0);
        Lease lease = first.messages().get(0).lease();
        this.clock.advance(PrimaryPollerBid.GRACE);
        assertThat(this.store.release(QUEUE, List.of(new UnstartedLease(lease, first.now()))).join())
            .containsOnly(true);

        ClaimResult claim = claim("b", Kind.ACQUIRE, 0);
        assertThat(claim.messages()).hasSize(1);
        assertThat(claim.primaryPoller()).isFalse();
    }

    @Test
    void rebalancingTakesTheRoleFromANodeWithTwoMorePartitions() {
        claim("a", Kind.ACQUIRE, 2);

        assertThat(claim("b", Kind.ACQUIRE, 1).primaryPoller()).isFalse();
        assertThat(claim("b", Kind.REBALANCE, 2).primaryPoller()).isFalse();
        assertThat(claim("b", Kind.REBALANCE, 1).primaryPoller()).isTrue();
        assertThat(text("primary")).isEqualTo("b 2");
    }

    @Test
    void onlyThePrimaryPollerResigns() {
        claim("a", Kind.ACQUIRE, 0);

        assertThat(this.store.resign(QUEUE, "b").join()).isFalse();
        assertThat(text("primary")).isEqualTo("a 1");
        assertThat(this.store.resign(QUEUE, "a").join()).isTrue();
        assertThat(text("primary")).isNull();
        assertThat(this.store.resign(QUEUE, "a").join()).isFalse();
    }

    @Test
    void onlyThePrimaryPollerSetsTheWakeMark() {
        this.store
            .schedule(PartitionTarget.first(QUEUE.queue()),
                    List.of(NewMessage.of("later", DueTime.after(LATER), body())))
            .join();
        claim("a", Kind.ACQUIRE, 0);
        assertThat(text("wake")).isNotNull();
        claim("a", Kind.RENEW, 0);
        assertThat(text("wake")).isNotNull();

        claim("b", Kind.ACQUIRE, 0);
        assertThat(text("wake")).isNull();
        claim("a", Kind.RENEW, 0);
        claim(1, null);
        assertThat(text("wake")).isNull();
    }

    @Test
    void aPrimaryPollerWithoutFreePermitsSetsNoWakeMark() {
        send("m");
        this.store
            .schedule(PartitionTarget.first(QUEUE.queue()),
                    List.of(NewMessage.of("later", DueTime.after(LATER), body())))
            .join();

        assertThat(claim(1, bid("a", Kind.ACQUIRE, 0)).primaryPoller()).isTrue();
        assertThat(text("wake")).isNull();
    }

    @Test
    void theLongestDueMessageDecidesWhetherThePrimaryPollerIsGone() {
        claim("a", Kind.ACQUIRE, 0);
        send("old");
        this.clock.advance(PrimaryPollerBid.GRACE);
        send("new");

        assertThat(claim("b", Kind.ACQUIRE, 0).primaryPoller()).isTrue();
    }

    @Test
    void renewingWritesNoRecord() {
        claim("a", Kind.ACQUIRE, 0);

        assertThat(claim("a", Kind.RENEW, 4).primaryPoller()).isTrue();
        assertThat(text("primary")).isEqualTo("a 1");
    }

    @Test
    void rebalancingTakesAFreeRole() {
        assertThat(claim("a", Kind.REBALANCE, 0).primaryPoller()).isTrue();
    }

    @Test
    void aClaimThatLeavesDueMessagesBehindPublishesAWakeUp() throws Exception {
        for (String id : List.of("m", "n", "o")) {
            later(id);
        }
        // This claim removes the wake mark.
        claim(1, null);
        this.clock.advance(LATER);
        RedisScriptExecutor redis = RedisScriptExecutor.to(connections, this.namespace, Duration.ofSeconds(30));
        RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL);
        BlockingQueue<WakeUpSignal> signals = new LinkedBlockingQueue<>();
        try (WakeUps.Subscription subscription = wakeUps.listen(QUEUE, signals::add)) {
            assertThat(next(signals)).isEqualTo(WakeUpSignal.POLL_NOW);

            claim(1, null);
            assertThat(next(signals)).isEqualTo(WakeUpSignal.POLL_NOW);
        }
        finally {
            wakeUps.close();
            redis.close();
        }
    }

    private void later(String id) {
        this.store
            .schedule(PartitionTarget.first(QUEUE.queue()), List.of(NewMessage.of(id, DueTime.after(LATER), body())))
            .join();
    }

    @Test
    void thePrimaryPollerPublishesItsNextPollAndItsResignation() throws Exception {
        RedisScriptExecutor redis = RedisScriptExecutor.to(connections, this.namespace, Duration.ofSeconds(30));
        RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL);
        BlockingQueue<WakeUpSignal> signals = new LinkedBlockingQueue<>();
        try (WakeUps.Subscription subscription = wakeUps.listen(QUEUE, signals::add)) {
            assertThat(next(signals)).isEqualTo(WakeUpSignal.POLL_NOW);

            claim("a", Kind.ACQUIRE, 0);
            claim("a", Kind.RENEW, 0);
            claim("b", Kind.ACQUIRE, 0);
            assertThat(this.store.resign(QUEUE, "b").join()).isFalse();
            assertThat(this.store.resign(QUEUE, "a").join()).isTrue();
            assertThat(next(signals))
                .isEqualTo(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("a", 1)));
            assertThat(next(signals)).isEqualTo(WakeUpSignal.NO_PRIMARY);

            Duration in = LATER.plusMillis(1); // due times are rounded up
            Instant due = this.clock.now().plus(in);
            this.clock.advance(Duration.ofNanos(123_000));
            later("later");
            claim("b", Kind.ACQUIRE, 2);
            assertThat(next(signals)).isEqualTo(WakeUpSignal.dueIn(in.minusNanos(123_000), due));
            assertThat(next(signals)).isEqualTo(WakeUpSignal.primaryPolled(in, new WakeUpSignal.PrimaryPoller("b", 3)));
        }
        finally {
            wakeUps.close();
            redis.close();
        }
    }

    private static WakeUpSignal next(BlockingQueue<WakeUpSignal> signals) throws InterruptedException {
        return Objects.requireNonNull(signals.poll(30, TimeUnit.SECONDS), "no signal");
    }

    @Test
    void resigningRemovesTheWakeMark() {
        this.store
            .schedule(PartitionTarget.first(QUEUE.queue()),
                    List.of(NewMessage.of("later", DueTime.after(LATER), body())))
            .join();
        claim("a", Kind.ACQUIRE, 0);
        assertThat(text("wake")).isNotNull();

        assertThat(this.store.resign(QUEUE, "a").join()).isTrue();
        assertThat(text("wake")).isNull();
    }

    private ClaimResult claim(String node, Kind kind, int others) {
        return claim(100, bid(node, kind, others));
    }

    private ClaimResult claim(int limit, @Nullable PrimaryPollerBid bid) {
        return this.store.claim(QUEUE, new ClaimRequest(limit, LEASE, ExpiryPolicy.DROP, bid)).join();
    }

    private static PrimaryPollerBid bid(String node, Kind kind, int others) {
        return new PrimaryPollerBid(node, kind, others, TERM);
    }

    private void send(String id) {
        this.store.schedule(PartitionTarget.first(QUEUE.queue()), List.of(NewMessage.of(id, DueTime.NOW, body())))
            .join();
    }

    private static byte[] body() {
        return "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);
    }

    private @Nullable String text(String kind) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            byte[] value = connection.stringCommands().get(key(kind));
            return (value != null) ? new String(value, StandardCharsets.UTF_8) : null;
        }
    }

    private long term() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            return connection.keyCommands().pTtl(key("primary"));
        }
    }

    private byte[] key(String kind) {
        return (this.namespace + ":{polled}:" + kind).getBytes(StandardCharsets.UTF_8);
    }

}
