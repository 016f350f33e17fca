package io.delayqueue.redis.check;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.fixtures.store.ScheduleValues;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptArguments;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3, P5: a call of a script moves or answers about a mebibyte of contents and no more,
 * as Redis does nothing else meanwhile; what it leaves is settled by another call.
 */
@Tag("server")
class RedisLargeMessagesTests {

    private static final int MEBIBYTE = 1 << 20;

    private static final int LARGE = 300_000;

    private static final int MESSAGES = 10;

    private static final int MIXED = 48;

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("large"));

    private static final Partition QUEUE = HOME.partition();

    private static LettuceConnectionFactory connections;

    private final ManualClock clock = new ManualClock();

    private final String namespace = "large-" + UUID.randomUUID();

    private final ScriptRunner runner = new PinnedTimeRunner(
            RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock);

    private final Map<String, Integer> calls = new HashMap<>();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(counting(), this.namespace);

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @AfterEach
    void removeAll() {
        List<String> keys = RedisServer.shared(RedisBinary.preferred()).commands().keys(this.namespace + ":*");
        if (!keys.isEmpty()) {
            RedisServer.shared(RedisBinary.preferred()).commands().del(keys.toArray(String[]::new));
        }
        this.redis.close();
    }

    private ScriptRunner counting() {
        return new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                RedisLargeMessagesTests.this.calls.merge(script.name(), 1, Integer::sum);
                return RedisLargeMessagesTests.this.runner.run(script, keys, arguments);
            }

            @Override
            public void close() {
                RedisLargeMessagesTests.this.runner.close();
            }

        };
    }

    @Test
    void aCallThatFiresReturnsAMebibyteOfDueSchedules() {
        RedisScheduleStore schedules = new RedisScheduleStore(this.redis);
        String definition = "{}\n\"%s\"".formatted("x".repeat(LARGE));
        for (int i = 0; i < MESSAGES; i++) {
            ScheduleState state = ScheduleValues.fresh();
            schedules
                .change(QUEUE.queue(),
                        new ScheduleChange("s" + i, null,
                                new ScheduleState(state.generation(), state.next(), 0, state.tail(), 0, 0, false, "",
                                        definition),
                                null, null))
                .join();
        }

        assertThat(schedules.fire(QUEUE.queue(), "node", List.of()).join().due()).hasSize(1 + MEBIBYTE / LARGE);
    }

    @Test
    void successorsOfLeasesThatRanOutTakeTheirPlaceSomeAtATime() {
        leasedWithSuccessors();
        this.clock.advance(LEASE);

        List<ClaimResult> claims = IntStream.range(0, MESSAGES)
            .mapToObj((i) -> claim())
            .takeWhile((claim) -> !claim.messages().isEmpty())
            .toList();

        assertThat(claims).extracting((claim) -> claim.messages().size()).containsExactly(3, 3, 3, 1);
        assertThat(claims.get(0).nextIn()).isZero();
        assertThat(claims).flatExtracting(ClaimResult::messages)
            .allSatisfy((message) -> assertThat(message.envelope()).hasSize(LARGE));
        new KeyInvariants(connections, this.namespace, QUEUE).check();
    }

    @Test
    void acknowledgementsOfMessagesWithSuccessorsAreSeveralCalls() {
        List<Lease> leases = leasedWithSuccessors();
        leases.add(3, new Lease(QUEUE, "unknown", "1"));

        List<Boolean> done = this.store.acknowledge(QUEUE, leases).join();

        assertThat(done).hasSize(MESSAGES + 1).doesNotContainNull();
        assertThat(IntStream.range(0, done.size()).filter((i) -> !done.get(i))).containsExactly(3);
        assertThat(this.calls).containsEntry("acknowledge", 4);
        assertSuccessorsWait();
    }

    @Test
    void releasesOfMessagesWithSuccessorsAreSeveralCalls() {
        List<Lease> leases = leasedWithSuccessors();

        assertThat(this.store.release(QUEUE, leases, Duration.ZERO).join()).hasSize(MESSAGES).containsOnly(true);

        assertThat(this.calls).containsEntry("release", 4);
        assertSuccessorsWait();
    }

    @Test
    void releasesOfUnbegunMessagesWithSuccessorsAreSeveralCalls() {
        List<UnstartedLease> leases = leasedWithSuccessors().stream()
            .map((lease) -> new UnstartedLease(lease, this.clock.now()))
            .toList();

        assertThat(this.store.release(QUEUE, leases).join()).hasSize(MESSAGES).containsOnly(true);

        assertThat(this.calls).containsEntry("release", 4);
        assertSuccessorsWait();
    }

    private void assertSuccessorsWait() {
        new KeyInvariants(connections, this.namespace, QUEUE).check();
        Set<String> ids = new HashSet<>();
        for (ClaimResult claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
            claim.messages().forEach((message) -> {
                ids.add(message.lease().id());
                assertThat(message.envelope()).hasSize(LARGE);
            });
        }
        assertThat(ids).hasSize(MESSAGES);
    }

    /**
     * A send compares the length of the stored message, and its stamp if the lengths are
     * the same.
     */
    @ParameterizedTest
    @ValueSource(ints = { 10, LARGE })
    void idsOfLargeMessagesAreKept(int bytes) {
        List<NewMessage> first = messages(LARGE, OnDuplicate.KEEP);
        assertThat(send(first)).containsOnly(SendOutcome.SCHEDULED);

        assertThat(send(messages(bytes, OnDuplicate.KEEP))).containsOnly(SendOutcome.KEPT);
        assertThat(send(first)).as("repeated").containsOnly(SendOutcome.SCHEDULED);
        assertThat(send(messages(bytes, OnDuplicate.REPLACE))).containsOnly(SendOutcome.REPLACED);
        assertThat(send(first)).containsOnly(SendOutcome.KEPT);
    }

    @Test
    void examinationsReadSomeAtATime() {
        send(messages(LARGE, OnDuplicate.KEEP));

        assertThat(examined()).hasSize(MESSAGES);
        assertThat(new RedisIntegrityChecker(this.redis, () -> connections,
                new EnvelopeCodec(JsonMapper.builder().build()))
            .check(QUEUE.queue().value())).isEqualTo(new IntegrityReport(MESSAGES, List.of(), true));
    }

    private Set<String> examined() {
        return examined(this.redis);
    }

    private static Set<String> examined(RedisScriptExecutor redis) {
        Set<String> found = new HashSet<>();
        byte[] cursor = ScriptCodec.bytes(0);
        do {
            List<Object> reply = redis
                .run(RedisScripts.INSPECT_MESSAGES, QUEUE, ScriptCodec.bytes(KeyKind.MESSAGES.number()), cursor,
                        ScriptCodec.bytes(100))
                .join();
            cursor = (byte[]) reply.get(1);
            List<?> facts = reply.subList(2, reply.size());
            assertThat(facts.stream().mapToInt((each) -> ((byte[]) ((List<?>) each).get(1)).length).sum())
                .isLessThan(MEBIBYTE + 4 * LARGE);
            facts.forEach((each) -> found.add(ScriptCodec.raw(((List<?>) each).get(0))));
        }
        while (!ScriptCodec.text(cursor).equals("0"));
        return found;
    }

    /** The size of one message is no measure of the next. */
    @ParameterizedTest
    @ValueSource(ints = { 4, 5 })
    void largeMessagesBetweenSmallOnesAreClaimedSomeAtATime(int priority) {
        send(mixed(priority, OnDuplicate.KEEP));

        List<ClaimResult> claims = IntStream.range(0, MIXED)
            .mapToObj((i) -> claim())
            .takeWhile((claim) -> !claim.messages().isEmpty())
            .toList();

        assertThat(claims).flatExtracting(ClaimResult::messages).hasSize(MIXED);
        assertThat(claims).allSatisfy(
                (claim) -> assertThat(claim.messages().stream().mapToInt((message) -> message.envelope().length).sum())
                    .isLessThan(MEBIBYTE + LARGE + MIXED * 100));
        new KeyInvariants(connections, this.namespace, QUEUE).check();
    }

    @Test
    void examinationsReadLargeMessagesBetweenSmallOnesSomeAtATime() {
        send(mixed(4, OnDuplicate.KEEP));

        assertThat(examined()).hasSize(MIXED);
    }

    /**
     * Redis does not shrink a hash during a background save: 27 of 28 buckets are empty.
     */
    @Test
    void anExaminationOfAHashOfEmptyBucketsIsSeveralCalls() {
        int left = 300;
        List<String> ids = IntStream.range(0, 6_000).mapToObj((i) -> "m" + i).toList();
        onOwnServer((server, access) -> {
            ids.forEach((id) -> server.commands().hset("large:{large}:messages", id, "-foreign{}"));
            // Reads end the growth of the hash, which a save would interrupt.
            ids.forEach((id) -> server.commands().hget("large:{large}:messages", id));
            server.commands().configSet("rdb-key-save-delay", "20000000");
            server.commands().bgsave();
            server.commands().hdel("large:{large}:messages", ids.subList(left, ids.size()).toArray(String[]::new));
            server.commands().configResetstat();

            access
                .run(RedisScripts.INSPECT_MESSAGES, QUEUE, ScriptCodec.bytes(KeyKind.MESSAGES.number()),
                        ScriptCodec.bytes(0), ScriptCodec.bytes(100))
                .join();

            assertThat(server.commands().info("commandstats")).contains("cmdstat_hscan:calls=100,");
            assertThat(examined(access)).hasSize(left);
        });
    }

    /** Contents that are held are not read to find out that they are. */
    @Test
    void aSendReadsNoContents() {
        send(mixed(4, OnDuplicate.KEEP));
        byte[][] arguments = ScriptArguments.ofSend(HOME, mixed(4, OnDuplicate.KEEP));
        onOwnServer((server, access) -> {
            new RedisMessageStore(access).schedule(HOME, mixed(4, OnDuplicate.KEEP).subList(1, 2)).join();
            server.commands().configResetstat();

            assertThat(access.send(null, QUEUE, arguments).join()).isEmpty();

            assertThat(server.commands().info("commandstats")).contains("cmdstat_hexists")
                .doesNotContain("cmdstat_hget", "cmdstat_hmget");
        });
    }

    /**
     * P11: such a batch is a call that is repeated, perhaps after one of its messages was
     * replaced. One command finds that out for all ids.
     */
    @Test
    void aBatchOfGeneratedIdsOfWhichOneIsHeldChangesNothing() {
        List<NewMessage> batch = IntStream.range(0, 3)
            .mapToObj((i) -> new NewMessage("m" + i, true, DueTime.after(LEASE.multipliedBy(3 - i)), OnDuplicate.KEEP,
                    4, null, null, envelope(20)))
            .toList();
        onOwnServer((server, access) -> {
            new RedisMessageStore(access).schedule(HOME, batch.subList(1, 2)).join();
            server.commands().configResetstat();

            assertThat(access.send(null, QUEUE, ScriptArguments.ofSend(HOME, batch)).join()).isEmpty();

            assertThat(server.commands().info("commandstats")).contains("cmdstat_hmget:calls=1,")
                .doesNotContain("cmdstat_hexists", "cmdstat_hset:", "cmdstat_zadd");
        });
    }

    /**
     * P3: contents that are read together could be large together. The first is read
     * alone, then ten at a time while all are small.
     */
    @ParameterizedTest
    @CsvSource({ "20, 100, 11", "4000, 21, 3", "5000, 20, 20", "200000, 5, 5" })
    void aClaimReadsOnlySmallContentsTogether(int bytes, int messages, int calls) {
        byte[] envelope = envelope(bytes);
        List<NewMessage> batch = IntStream.range(0, messages)
            .mapToObj((i) -> new NewMessage("m" + i, true, DueTime.NOW, OnDuplicate.KEEP, 4, null, null, envelope))
            .toList();
        onOwnServer((server, access) -> {
            RedisMessageStore messageStore = new RedisMessageStore(access);
            messageStore.schedule(HOME, batch).join();
            server.commands().configResetstat();

            assertThat(messageStore.claim(QUEUE, new ClaimRequest(100, LEASE, ExpiryPolicy.DROP)).join().messages())
                .hasSize(messages);

            assertThat(server.commands().info("commandstats")).contains("cmdstat_hmget:calls=%d,".formatted(calls))
                .doesNotContain("cmdstat_hget:");
        });
    }

    /**
     * Redis writes each due time that a command returns as text: the time that a full
     * claim of a backlog shares is read once. The calls of ZRANGE include two for the
     * first lease and the next message.
     */
    @ParameterizedTest
    @CsvSource({ "true, true, 4", "true, false, 5", "false, true, 3" })
    void aFullClaimOfABacklogReadsADueTimeOnceThatAllHave(boolean backlog, boolean equal, int calls) {
        List<NewMessage> batch = IntStream.range(0, 100)
            .mapToObj((i) -> NewMessage.of("m" + i, DueTime.NOW, envelope(20)))
            .toList();
        onOwnServer((server, access) -> {
            RedisMessageStore messageStore = new RedisMessageStore(access);
            messageStore.schedule(HOME, batch).join();
            server.commands().zincrby("large:{%s}:scheduled".formatted(QUEUE), equal ? 0 : -1, "m50");
            server.commands().configResetstat();

            assertThat(messageStore.claim(QUEUE, new ClaimRequest(100, LEASE, ExpiryPolicy.DROP, null, LEASE, backlog))
                .join()
                .messages()).hasSize(100);

            assertThat(server.commands().info("commandstats")).contains("cmdstat_zrange:calls=%d,".formatted(calls));
        });
    }

    /** Runs a test on a server whose commands are counted. */
    private static void onOwnServer(BiConsumer<RedisServer, RedisScriptExecutor> test) {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory own = ConnectionFactories.lettuce(server);
            try (RedisScriptExecutor access = RedisScriptExecutor.to(own, "large", Duration.ofSeconds(30))) {
                test.accept(server, access);
            }
            finally {
                own.destroy();
            }
        }
    }

    private List<Lease> leasedWithSuccessors() {
        send(messages(10, OnDuplicate.KEEP));
        List<Lease> leases = new ArrayList<>(claim().messages().stream().map(ClaimedMessage::lease).toList());
        assertThat(send(messages(LARGE, OnDuplicate.REPLACE))).containsOnly(SendOutcome.AFTER_CURRENT);
        return leases;
    }

    private ClaimResult claim() {
        return this.store.claim(QUEUE, new ClaimRequest(100, LEASE, ExpiryPolicy.DROP)).join();
    }

    private List<SendOutcome> send(List<NewMessage> messages) {
        return this.store.schedule(HOME, messages).join().stream().map(SendResult::outcome).toList();
    }

    /** One of three is large. */
    private static List<NewMessage> mixed(int priority, OnDuplicate onDuplicate) {
        return IntStream.range(0, MIXED)
            .mapToObj((i) -> new NewMessage("m%02d".formatted(i), false, DueTime.NOW, onDuplicate, priority, null, null,
                    envelope((i % 3 == 1) ? LARGE : 20)))
            .toList();
    }

    private static byte[] envelope(int bytes) {
        return "{\"payload\":\"%s\"}".formatted("x".repeat(Math.max(0, bytes - 14)))
            .getBytes(StandardCharsets.US_ASCII);
    }

    private static List<NewMessage> messages(int bytes, OnDuplicate onDuplicate) {
        byte[] envelope = envelope(bytes);
        return IntStream.range(0, MESSAGES)
            .mapToObj((i) -> new NewMessage("m" + i, false, DueTime.NOW, onDuplicate, 4, null, null, envelope))
            .toList();
    }

}
