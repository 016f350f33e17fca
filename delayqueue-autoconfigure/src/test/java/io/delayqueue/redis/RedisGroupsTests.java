package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests groups in Redis: the work of a script does not depend on how many messages wait
 * (P3), plain messages cause no additional commands, and a group continues after another
 * program removed its head.
 */
@Tag("server")
class RedisGroupsTests {

    private static final Partition QUEUE = Partition.first(new QueueName("groups"));

    private static final byte[] ENVELOPE = "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);

    private static final int WAITING_IN_GROUP = 100_000;

    private static RedisServer server;

    private static LettuceConnectionFactory connections;

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            "groups");

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final KeyInvariants audit = new KeyInvariants(connections, "groups", QUEUE);

    /** Starts a separate server, as its commands are counted. */
    @BeforeAll
    static void connect() {
        server = RedisServer.start(RedisBinary.preferred());
        connections = ConnectionFactories.lettuce(server);
    }

    @AfterEach
    void removeAll() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.serverCommands().flushAll();
        }
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
        server.close();
    }

    @Test
    void scriptsRunTheSameCommandsForThreeAndForManyWaitingMessages() {
        Map<String, Long> claimOfFew = new TreeMap<>();
        Map<String, Long> acknowledgeOfFew = new TreeMap<>();
        Map<String, Long> sendOfFew = new TreeMap<>();
        for (int waiting : new int[] { 3, WAITING_IN_GROUP }) {
            sendGroup(waiting);
            Lease stuck = claim().messages().get(0).lease();
            send(message(null, "plain", Duration.ZERO));

            Map<String, Long> ofClaim = commandsOf(() -> this.store.claim(QUEUE, request()));
            assertThat(claim().messages()).isEmpty();
            Map<String, Long> ofSend = commandsOf(() -> this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                    List.of(message("g", "late", Duration.ZERO))));
            Map<String, Long> ofAcknowledge = commandsOf(() -> this.store.acknowledge(QUEUE, List.of(stuck)));
            assertThat(claim().messages()).extracting((message) -> message.lease().id()).containsExactly("g1");
            if (waiting < WAITING_IN_GROUP) {
                claimOfFew.putAll(ofClaim);
                acknowledgeOfFew.putAll(ofAcknowledge);
                sendOfFew.putAll(ofSend);
                removeAll();
            }
            else {
                assertThat(ofClaim).isEqualTo(claimOfFew);
                assertThat(ofAcknowledge).isEqualTo(acknowledgeOfFew);
                assertThat(ofSend).isEqualTo(sendOfFew);
            }
        }
    }

    @Test
    void plainMessagesCauseNoCommandsForUnusedGroups() {
        send(message(null, "first", Duration.ZERO));
        claim();
        assertThat(commandsOf(() -> this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(NewMessage.of("a", DueTime.after(Duration.ZERO), ENVELOPE)))))
            .isEqualTo(Map.of("zadd", 1L, "hsetnx", 1L, "get", 2L, "set", 1L, "publish", 1L));
        Lease lease = claim().messages().get(0).lease();
        send(message(null, "b", Duration.ZERO));

        // One of the two HDEL only tests the permission.
        assertThat(commandsOf(() -> this.store.acknowledge(QUEUE, List.of(lease))))
            .isEqualTo(Map.of("zmscore", 1L, "exists", 2L, "zrem", 1L, "hdel", 2L));
    }

    @Test
    void sendsOfGeneratedIdsDoNotReadTheKeysOfGroups() {
        NewMessage generated = new NewMessage("a", true, DueTime.NOW, OnDuplicate.REPLACE,
                MessageLimits.NORMAL_PRIORITY, null, null, ENVELOPE);
        send(generated);
        send(generated);
        claim();
        done(this.store.cancel(PartitionTarget.first(QUEUE.queue()), "a"));
        this.clock.advance(Duration.ofHours(1));

        send(generated);

        assertThat(claim().messages()).extracting((message) -> message.lease().id()).containsExactly("a");
        this.audit.check();
    }

    @Test
    void aGroupContinuesWhenTheContentOfItsHeadIsMissing() {
        sendGroup(2);
        change((connection) -> connection.hashCommands().hDel(key("messages"), bytes("g0")));

        ClaimResult claim = claim();

        assertThat(claim.deadLettered()).extracting((event) -> event.id() + " " + event.reason())
            .containsExactly("g0 missing");
        assertThat(claim.messages()).extracting((message) -> message.lease().id()).containsExactly("g1");
        this.audit.check();
    }

    @Test
    void theNextSendBecomesTheHeadOfAGroupWhoseHeadWasRemoved() {
        sendGroup(2);
        change((connection) -> {
            connection.zSetCommands().zRem(key("scheduled"), bytes("g0"));
            connection.hashCommands().hDel(key("messages"), bytes("g0"));
            connection.hashCommands().hDel(key("details"), bytes("g0"));
        });

        send(message("g", "z", Duration.ofSeconds(1)));
        this.clock.advance(Duration.ofSeconds(1));

        Lease lease = claim().messages().get(0).lease();
        assertThat(lease.id()).isEqualTo("z");
        assertThat(done(this.store.acknowledge(QUEUE, List.of(lease)))).containsExactly(true);
        assertThat(claim().messages()).extracting((message) -> message.lease().id()).containsExactly("g1");
        this.audit.check();
    }

    /**
     * Sends a group head and waiting messages, with the ids g0, g1 and so on in order.
     */
    private void sendGroup(int waiting) {
        for (int i = 0; i <= waiting; i += MessageStore.BATCH_LIMIT) {
            send(IntStream.range(i, Math.min(i + MessageStore.BATCH_LIMIT, waiting + 1))
                .mapToObj((each) -> message("g", "g" + each, Duration.ofMillis(each)))
                .toArray(NewMessage[]::new));
        }
        this.clock.advance(Duration.ofMillis(waiting));
    }

    private static NewMessage message(@Nullable String group, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null,
                group, ENVELOPE);
    }

    private void send(NewMessage... messages) {
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()), List.of(messages)));
    }

    private ClaimResult claim() {
        return done(this.store.claim(QUEUE, request()));
    }

    private static ClaimRequest request() {
        return new ClaimRequest(MessageStore.BATCH_LIMIT, Duration.ofHours(1), ExpiryPolicy.DROP);
    }

    /** Returns the commands that the scripts of a call run, and how often. */
    private <T> Map<String, Long> commandsOf(Supplier<CompletableFuture<T>> call) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            Properties before = connection.serverCommands().info("commandstats");
            done(call.get());
            Properties after = connection.serverCommands().info("commandstats");
            Map<String, Long> commands = new TreeMap<>();
            for (String command : after.stringPropertyNames()) {
                long calls = calls(after, command) - calls(before, command);
                if (calls > 0 && !command.matches("cmdstat_(info|eval.*)")) {
                    commands.put(command.substring("cmdstat_".length()), calls);
                }
            }
            return commands;
        }
    }

    private static long calls(Properties statistics, String command) {
        String line = statistics.getProperty(command);
        return (line != null) ? Long.parseLong(line.replaceAll("calls=(\\d+),.*", "$1")) : 0;
    }

    private void change(Consumer<RedisConnection> change) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            change.accept(connection);
        }
    }

    private static byte[] key(String kind) {
        return bytes("groups:{groups}:" + kind);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}
