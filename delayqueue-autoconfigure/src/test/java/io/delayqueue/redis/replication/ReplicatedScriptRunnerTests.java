package io.delayqueue.redis.replication;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.UnsuitableRedisException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionTarget;
import io.lettuce.core.KillArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * P1: a send that waits for replicas returns once they have the message, and otherwise
 * fails with the effect "stored, not replicated".
 */
@Tag("server")
class ReplicatedScriptRunnerTests {

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("replicated"));

    private static final int SLOT = SlotHash.getSlot("{replicated}");

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Long enough for a replica that is there, on any machine. */
    private static final ReplicationRequirement ONE = new ReplicationRequirement(1, Duration.ofSeconds(10));

    /** For replicas that are not there. */
    private static final ReplicationRequirement SOON_ONE = new ReplicationRequirement(1, Duration.ofMillis(100));

    private RedisServer master;

    /** Between the two. */
    private TcpProxy line;

    private RedisServer replica;

    private LettuceConnectionFactory connections;

    private final List<AutoCloseable> resources = new ArrayList<>();

    @BeforeEach
    void start() {
        this.master = RedisServer.start(RedisBinary.preferred());
        this.resources.add(this.master);
        this.line = TcpProxy.to(this.master);
        this.resources.add(this.line);
        this.replica = RedisServer.start(RedisBinary.preferred(), "replicaof 127.0.0.1 " + this.line.port());
        this.resources.add(this.replica);
        await().until(() -> this.master.commands().info("replication").contains("state=online"));
        this.connections = ConnectionFactories.lettuce(this.master);
        this.resources.add(this.connections::destroy);
    }

    @AfterEach
    void stop() throws Exception {
        for (int i = this.resources.size() - 1; i >= 0; i--) {
            this.resources.get(i).close();
        }
    }

    @Test
    void aMasterThatDiesLosesOnlyMessagesThatNoReplicaHadToConfirm() {
        RedisMessageStore careless = store(ReplicationRequirement.NONE);
        RedisMessageStore careful = store(ONE);
        RedisMessageStore hasty = store(SOON_ONE);
        for (int i = 0; i < 20; i++) {
            send(careful, "replicated-" + i);
        }
        this.line.blackhole();
        for (int i = 0; i < 20; i++) {
            send(careless, "unreplicated-" + i);
        }
        assertThatThrownBy(() -> send(hasty, "refused")).hasCauseInstanceOf(NotReplicatedException.class);

        this.master.kill();
        this.replica.commands().replicaofNoOne();

        // All of these sends returned: that is the loss that Redis' replication has.
        assertThat(held(this.replica)).hasSize(20).allMatch((id) -> id.startsWith("replicated-"));
        assertThatThrownBy(() -> send(careful, "late")).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void tooFewReplicasMakeASendFailWhoseMessageIsStored() {
        RedisMessageStore store = store(SOON_ONE);
        this.line.blackhole();

        assertThatThrownBy(() -> send(store, "a")).cause()
            .isInstanceOfSatisfying(NotReplicatedException.class, (ex) -> {
                assertThat(ex.effect()).isEqualTo(Effect.STORED);
                assertThat(ex).hasMessage("Stored, not replicated: 0 of 1 replicas had it within 100 ms");
            });
        assertThat(held(this.master)).containsExactly("a");
    }

    /**
     * The second send writes nothing: as of Redis 7.2 there would be nothing to wait for.
     */
    @Test
    void aSendThatFindsItsMessageWaitsForTheReplicasAsWell() {
        RedisMessageStore other = store(ReplicationRequirement.NONE);
        RedisMessageStore store = store(SOON_ONE);
        this.line.blackhole();
        send(other, "a");
        long before = writes(this.master);
        assertThatThrownBy(() -> send(store, "a")).hasCauseInstanceOf(NotReplicatedException.class);
        assertThat(writes(this.master)).isGreaterThan(before);

        this.line.pass();
        assertThat(send(store(ONE), "a")).isEqualTo(SendOutcome.KEPT);
        assertThat(held(this.replica)).containsExactly("a");
    }

    @Test
    void sendsOfManyThreadsShareTheirWaits() {
        RedisMessageStore store = store(ONE);
        send(store, "first");
        this.line.blackhole();
        AtomicInteger answered = new AtomicInteger();
        List<CompletableFuture<?>> sends = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            sends.add(store.schedule(HOME, List.of(message("m" + i)))
                .thenAccept((results) -> answered.addAndGet(results.size())));
        }
        this.line.pass();
        CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).join();
        assertThat(answered).hasValue(300);
        assertThat(calls(this.master, "wait")).isLessThan(50);
        assertThat(held(this.replica)).hasSize(301);
        await().untilAsserted(() -> assertThat(this.master.commands().keys("*replicated")).isEmpty());
    }

    @Test
    void scriptsThatAServerForgotAreLoadedAgain() {
        RedisMessageStore store = store(ONE);
        send(store, "a");
        this.master.commands().scriptFlush();

        assertThat(send(store, "b")).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(held(this.replica)).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void aConnectionThatBreaksIsReplacedForTheNextSend() {
        RedisMessageStore store = store(ONE);
        send(store, "a");
        this.master.commands().clientKill(KillArgs.Builder.typeNormal().skipme());

        await().ignoreExceptions().untilAsserted(() -> assertThat(send(store, "b")).isNotNull());
        assertThat(held(this.replica)).containsExactlyInAnyOrder("a", "b");
    }

    /**
     * Another server may have the scripts of before a break, so no replica is awaited.
     */
    @Test
    void aConnectionThatBreaksWhileItWaitsFailsItsSends() {
        RedisMessageStore store = store(new ReplicationRequirement(1, Duration.ofSeconds(9)));
        send(store, "a");
        this.line.blackhole();
        CompletableFuture<?> sent = store.schedule(HOME, List.of(message("b")));
        await().until(() -> this.master.commands().clientList().contains("cmd=wait"));

        this.master.commands().clientKill(KillArgs.Builder.typeNormal().skipme());

        assertThatThrownBy(sent::join).cause()
            .isInstanceOfSatisfying(NotReplicatedException.class,
                    (ex) -> assertThat(ex).hasMessageContaining("whether 1 replicas have it is not known"));
    }

    @Test
    void theConnectionToAServerThatBecameAReplicaIsClosed() {
        RedisMessageStore store = store(ONE);
        send(store, "a");
        this.master.commands().replicaof("127.0.0.1", this.replica.port());
        assertThatThrownBy(() -> send(store, "b")).cause()
            .isInstanceOfSatisfying(StoreUnavailableException.class,
                    (ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
        this.master.commands().replicaofNoOne();
        await().ignoreExceptions()
            .untilAsserted(() -> assertThat(send(store, "c")).isIn(SendOutcome.SCHEDULED, SendOutcome.KEPT));
        assertThat(held(this.replica)).containsExactlyInAnyOrder("a", "c");
    }

    @Test
    void everyMasterOfAClusterWaitsForItsOwnReplica() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1)) {
            LettuceConnectionFactory toCluster = ConnectionFactories.lettuce(cluster);
            RedisScriptExecutor redis = RedisScriptExecutor.to(toCluster, "dq", LIMIT, ONE);
            RedisMessageStore store = new RedisMessageStore(redis);
            List<CompletableFuture<?>> sends = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                PartitionTarget target = PartitionTarget.first(new QueueName("queue-" + i));
                sends.add(store.schedule(target, List.of(message("m"))));
            }
            CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).join();
            assertThat(cluster.masters()).allSatisfy((each) -> assertThat(calls(each, "wait")).isPositive());
            redis.close();
            toCluster.destroy();
        }
    }

    @Test
    void sendsFollowASlotThatMoves() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1)) {
            RedisMessageStore store = store(cluster);
            send(store, "a");
            RedisServer from = cluster.masterOfSlot(SLOT);
            RedisServer to = cluster.masters().stream().filter((each) -> each != from).findFirst().orElseThrow();
            long before = connectionsTo(cluster);

            cluster.moveSlot(SLOT, to);

            assertThat(send(store, "b")).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(held(to)).containsExactlyInAnyOrder("a", "b");
            assertThat(calls(to, "wait")).isPositive();
            assertThat(connectionsTo(cluster) - before).isLessThan(100);
        }
    }

    /** The old master still runs, and redirects to the owner of the slot. */
    @Test
    void sendsFollowTheReplicaThatTookOver() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1)) {
            RedisMessageStore store = store(cluster);
            send(store, "a");
            RedisServer promoted = cluster.failover(cluster.masterOfSlot(SLOT));

            assertThat(send(store, "b")).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(held(promoted)).containsExactlyInAnyOrder("a", "b");
        }
    }

    @Test
    void theConnectionToAReplacedMasterIsClosed() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1)) {
            LettuceConnectionFactory toCluster = ConnectionFactories.lettuce(cluster);
            this.resources.add(toCluster::destroy);
            RedisMessageStore store = store(toCluster);
            send(store, "a");
            RedisServer old = cluster.masterOfSlot(SLOT);
            assertThat(waitingConnections(old)).isOne();
            RedisServer promoted = cluster.failover(old);
            ((RedisClusterClient) toCluster.getRequiredNativeClient()).refreshPartitions();

            send(store, "b");

            await().until(() -> waitingConnections(old) == 0);
            assertThat(waitingConnections(promoted)).isOne();
        }
    }

    @Test
    void aStoreThatIsClosedOpensNoConnection() {
        RedisScriptExecutor redis = RedisScriptExecutor.to(this.connections, "dq", LIMIT, ONE);
        redis.close();

        assertThatThrownBy(() -> send(new RedisMessageStore(redis), "a")).cause()
            .isInstanceOfSatisfying(StoreUnavailableException.class,
                    (ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
        assertThat(waitingConnections(this.master)).isZero();
    }

    @Test
    void aBatchUnderWayEndsBeforeAClosedStoreDisconnects() {
        RedisScriptExecutor redis = RedisScriptExecutor.to(this.connections, "dq", LIMIT, ONE);
        RedisMessageStore store = new RedisMessageStore(redis);
        send(store, "a");
        this.line.blackhole();
        CompletableFuture<?> sent = store.schedule(HOME, List.of(message("b")));
        await().until(() -> this.master.commands().info("clients").contains("blocked_clients:1"));

        redis.close();
        this.line.pass();

        assertThat(sent).succeedsWithin(Duration.ofMinutes(1));
        await().until(() -> waitingConnections(this.master) == 0);
    }

    /** A replica answers each send that it is the wrong server. */
    @Test
    void connectionsAreNotOpenedInAStorm() {
        RedisMessageStore store = store(ONE);
        send(store, "a");
        this.master.commands().replicaof("127.0.0.1", this.replica.port());
        long before = calls(this.master, "hello");
        long begun = System.nanoTime();

        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> send(store, "b")).hasCauseInstanceOf(StoreUnavailableException.class);
        }

        assertThat(calls(this.master, "hello") - before).isEqualTo(4);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
    }

    @Test
    void aThreadThatCannotBeStartedFailsTheSendsOfItsTimeOnly() {
        AtomicBoolean exhausted = new AtomicBoolean(true);
        RedisScriptExecutor redis = new RedisScriptExecutor(
                new ReplicatedScriptRunner(this.connections, ONE, LIMIT, (task) -> new Thread(task, "connect") {
                    @Override
                    public void start() {
                        if (exhausted.get()) {
                            throw new OutOfMemoryError("unable to create native thread, of a test");
                        }
                        super.start();
                    }
                }), "dq");
        this.resources.add(redis);
        RedisMessageStore store = new RedisMessageStore(redis);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> send(store, "a")).cause()
                .isInstanceOfSatisfying(StoreUnavailableException.class, (ex) -> {
                    assertThat(ex.effect()).isEqualTo(Effect.NONE);
                    assertThat(ex).hasMessageContaining("unable to create native thread");
                });
        }
        exhausted.set(false);

        assertThat(send(store, "b")).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(held(this.master)).containsExactly("b");
    }

    /** A hundred travel at a time: the first wait ends in time, the second does not. */
    @Test
    void sendsThatTimeOutReportTheKnownEffectAndKeepTheConnection() {
        ReplicationRequirement slow = new ReplicationRequirement(1, Duration.ofSeconds(3));
        RedisScriptExecutor redis = RedisScriptExecutor.to(this.connections, "dq", Duration.ofMillis(5500), slow);
        this.resources.add(redis);
        RedisMessageStore store = new RedisMessageStore(redis);
        send(store, "first");
        this.line.blackhole();
        long connected = connections(this.master);
        List<CompletableFuture<?>> sends = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            sends.add(store.schedule(HOME, List.of(message("m" + i))));
        }

        List<Throwable> failures = sends.stream()
            .map((sent) -> sent.handle((done, failure) -> failure.getCause()).join())
            .toList();

        assertThat(failures).hasExactlyElementsOfTypes(failures.stream()
            .map((failure) -> ((DelayQueueException) failure).effect() == Effect.STORED ? NotReplicatedException.class
                    : StoreUnavailableException.class)
            .toArray(Class<?>[]::new));
        assertThat(failures).filteredOn((failure) -> failure instanceof NotReplicatedException)
            .extracting(Throwable::getMessage)
            .contains("Stored, not replicated: 0 of 1 replicas had it within 3000 ms",
                    "Stored, not replicated: no answer to WAIT within 5500 ms of the send");
        assertThat(failures).filteredOn((failure) -> failure instanceof StoreUnavailableException)
            .isNotEmpty()
            .allSatisfy((failure) -> {
                assertThat(((DelayQueueException) failure).effect()).isEqualTo(Effect.NONE);
                assertThat(failure).hasMessage("'send' was not sent to Redis within 5500 ms, "
                        + "as others before it were not answered; nothing was changed");
            });
        this.line.pass();
        await().ignoreExceptions().untilAsserted(() -> assertThat(send(store, "last")).isNotNull());
        assertThat(connections(this.master)).isEqualTo(connected);
    }

    @Test
    void aClientThatIsNotLettuceIsRefused() {
        JedisConnectionFactory jedis = ConnectionFactories.jedis(this.master);
        assertThatThrownBy(() -> RedisScriptExecutor.to(jedis, "dq", LIMIT, ONE))
            .isInstanceOf(UnsuitableRedisException.class)
            .hasMessageContaining("delayqueue.durability.wait-replicas is 1");
        jedis.destroy();
    }

    @Test
    void aStaticListOfMasterAndReplicasIsRefused() {
        RedisStaticMasterReplicaConfiguration nodes = new RedisStaticMasterReplicaConfiguration("127.0.0.1",
                this.master.port());
        nodes.addNode("127.0.0.1", this.replica.port());
        LettuceConnectionFactory lettuce = new LettuceConnectionFactory(nodes);

        assertThatThrownBy(() -> RedisScriptExecutor.to(lettuce, "dq", LIMIT, ONE))
            .isInstanceOf(UnsuitableRedisException.class)
            .hasMessageContaining("delayqueue.durability.wait-replicas is 1");
    }

    private RedisMessageStore store(ReplicationRequirement wait) {
        RedisScriptExecutor redis = RedisScriptExecutor.to(this.connections, "dq", LIMIT, wait);
        this.resources.add(redis);
        return new RedisMessageStore(redis);
    }

    private RedisMessageStore store(RedisCluster cluster) {
        LettuceConnectionFactory toCluster = ConnectionFactories.lettuce(cluster);
        this.resources.add(toCluster::destroy);
        return store(toCluster);
    }

    private RedisMessageStore store(LettuceConnectionFactory factory) {
        RedisScriptExecutor redis = RedisScriptExecutor.to(factory, "dq", LIMIT, ONE);
        this.resources.add(redis);
        return new RedisMessageStore(redis);
    }

    private static SendOutcome send(RedisMessageStore store, String id) throws CompletionException {
        return store.schedule(HOME, List.of(message(id))).join().get(0).outcome();
    }

    private static NewMessage message(String id) {
        byte[] envelope = "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);
        return new NewMessage(id, false, DueTime.after(Duration.ofHours(1)), OnDuplicate.KEEP,
                MessageLimits.NORMAL_PRIORITY, null, null, envelope);
    }

    private static List<String> held(RedisServer server) {
        return server.commands().hkeys("dq:{replicated}:messages");
    }

    /**
     * Counts the writes that give {@code WAIT} something to cover; messages are no
     * strings.
     */
    private static long writes(RedisServer server) {
        return calls(server, "set");
    }

    private static long connectionsTo(RedisCluster cluster) {
        return cluster.masters().stream().mapToLong(ReplicatedScriptRunnerTests::connections).sum();
    }

    /** Counts the connections whose latest command is {@code WAIT}. */
    private static long waitingConnections(RedisServer server) {
        return server.commands().clientList().lines().filter((line) -> line.contains("cmd=wait")).count();
    }

    /** Counts all connections since the server started. */
    private static long connections(RedisServer server) {
        return server.commands()
            .info("stats")
            .lines()
            .filter((line) -> line.startsWith("total_connections_received:"))
            .mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
            .sum();
    }

    private static long calls(RedisServer server, String command) {
        return server.commands()
            .info("commandstats")
            .lines()
            .filter((line) -> line.startsWith("cmdstat_" + command + ":calls="))
            .mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
            .sum();
    }

}
