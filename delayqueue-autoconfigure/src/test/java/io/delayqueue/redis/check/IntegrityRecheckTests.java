package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1: a message that is wrong only while it moves during the check is no finding; one
 * that is still wrong at the second check is.
 */
@Tag("server")
class IntegrityRecheckTests {

    private static final QueueName QUEUE = new QueueName("checked");

    private static final String STORED = "-foreign{\"payload\":1}";

    private static RedisServer server;

    private static LettuceConnectionFactory connections;

    private final String namespace = "second-look-" + UUID.randomUUID();

    /** Runs after the checker has read the first page, and before the next. */
    private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {
    });

    private final DelayQueueIntegrityChecker checker = new RedisIntegrityChecker(
            new RedisScriptExecutor(interrupted(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30))),
                    this.namespace),
            () -> connections, new EnvelopeCodec(JsonMapper.builder().build()));

    @BeforeAll
    static void connect() {
        server = RedisServer.shared(RedisBinary.preferred());
        connections = ConnectionFactories.lettuce(server);
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Test
    void aMessageBeingWrittenIsNoFinding() {
        server.commands().hset(key(0, "messages"), "id", STORED);
        this.meanwhile.set(() -> server.commands().zadd(key(0, "scheduled"), 5, "id"));

        assertThat(this.checker.check("checked")).isEqualTo(new IntegrityReport(1, List.of(), true));
    }

    @Test
    void aMessageWrittenInPartIsAFinding() {
        server.commands().hset(key(0, "messages"), "id", STORED);

        assertThat(this.checker.check("checked").findings()).extracting(Finding::kind)
            .containsExactly(Finding.Kind.UNSCHEDULED_MESSAGE);
    }

    @Test
    void aMessageMayFollowALayoutThatIsNewerThanTheCheck() {
        PartitionLayout before = PartitionLayout.parse("2|1,4");
        PartitionLayout after = PartitionLayout.parse("3|1,4,2");
        record(before);
        String id = Stream.iterate(0, (number) -> number + 1)
            .map((number) -> "id-" + number)
            .filter((each) -> !isAtHome(before, each) && isAtHome(after, each))
            .findFirst()
            .orElseThrow();
        server.commands().hset(key(0, "messages"), "other", STORED);
        server.commands().zadd(key(0, "scheduled"), 5, "other");
        this.meanwhile.set(() -> {
            record(after);
            server.commands().hset(key(1, "messages"), id, STORED);
            server.commands().zadd(key(1, "scheduled"), 5, id);
        });

        assertThat(this.checker.check("checked").findings()).isEmpty();

        record(before);
        assertThat(this.checker.check("checked").findings()).extracting(Finding::kind)
            .containsOnly(Finding.Kind.WRONG_PARTITION);
    }

    /** Whether a message that is in the second partition belongs there. */
    private static boolean isAtHome(PartitionLayout partitions, String id) {
        return partitions.targets(QUEUE, id)
            .stream()
            .map(PartitionTarget::partition)
            .toList()
            .contains(new Partition(QUEUE, 1));
    }

    private void record(PartitionLayout partitions) {
        partitions.all(QUEUE)
            .forEach((partition) -> server.commands().set(key(partition.index(), "partitions"), partitions.text()));
    }

    private String key(int partition, String kind) {
        return "%s:{%s}:%s".formatted(this.namespace, new Partition(QUEUE, partition), kind);
    }

    private ScriptRunner interrupted(ScriptRunner redis) {
        return new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                CompletableFuture<List<Object>> reply = redis.run(script, keys, arguments);
                if (script.name().equals(RedisScripts.INSPECT_MESSAGES.name())) {
                    reply.join();
                    IntegrityRecheckTests.this.meanwhile.getAndSet(() -> {
                    }).run();
                }
                return reply;
            }

            @Override
            public void close() {
                redis.close();
            }

        };
    }

}
