package io.delayqueue.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.WireScene.Stage;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static io.delayqueue.redis.WireScene.HOME;
import static io.delayqueue.redis.WireScene.LEASE;
import static io.delayqueue.redis.WireScene.QUEUE;
import static io.delayqueue.redis.WireScene.done;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies P1 and P3 for stored messages of all versions. The stored bytes of every kind
 * of message are kept in {@code src/test/resources/wire/<version>}: the library writes
 * exactly those of the latest version, and processes those of every version like its own.
 * <p>
 * A change of the stored form adds a version: {@code -Ddq.wire.write=3} writes it. Nodes
 * of both versions share a Redis while an application is updated, so either the former
 * version must be able to read the new form, or the changelog must exclude that.
 */
@Tag("server")
class RedisWireTests {

    private static final String LATEST = "3";

    private static final List<String> VERSIONS = List.of("2", "3");

    private static final Path FIXTURES = Path.of("src/test/resources/wire");

    private static final String SEPARATOR = "\t";

    private static final String NEWLINE = "\\n";

    private static LettuceConnectionFactory connections;

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @ParameterizedTest
    @EnumSource
    void writesTheseBytes(WireScene scene) throws IOException {
        try (Theatre theatre = new Theatre()) {
            scene.play(theatre.stage);

            List<String> written = scene.isStampedAtRandom() ? withoutStamps(theatre.dump()) : theatre.dump();

            String version = System.getProperty("dq.wire.write");
            if (version != null) {
                Path file = FIXTURES.resolve(version).resolve(scene.file());
                Files.createDirectories(file.getParent());
                Files.write(file, written);
            }
            assertThat(written).isEqualTo(fixture(LATEST, scene));
        }
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    void processesTheseBytes(String version, WireScene scene) throws IOException {
        try (Theatre own = new Theatre(); Theatre stored = new Theatre()) {
            scene.play(own.stage);
            stored.load(fixture(version, scene));
            stored.clock.advance(Duration.between(stored.clock.now(), own.clock.now()));

            assertThat(stored.inspect()).isEqualTo(own.inspect());
            assertThat(stored.process()).isEqualTo(own.process()).isNotEmpty();
            assertThat(stored.dump()).allMatch((line) -> line.contains(":partitions") || line.contains(":primary"));
        }
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    void cancelsMessagesInTheseBytes(String version, WireScene scene) throws IOException {
        try (Theatre own = new Theatre(); Theatre stored = new Theatre()) {
            scene.play(own.stage);
            stored.load(fixture(version, scene));
            stored.clock.advance(Duration.between(stored.clock.now(), own.clock.now()));

            assertThat(stored.cancel()).isEqualTo(own.cancel());
            assertThat(stored.process()).isEqualTo(own.process());
        }
    }

    private static List<String> withoutStamps(List<String> lines) {
        return lines.stream().map((line) -> line.replaceFirst("\ts[\\w-]{7}\\{", "\tsRANDOM_{")).toList();
    }

    static Stream<Arguments> fixtures() {
        return VERSIONS.stream()
            .flatMap((version) -> Stream.of(WireScene.values())
                .filter((scene) -> Files.exists(FIXTURES.resolve(version).resolve(scene.file())))
                .map((scene) -> Arguments.of(version, scene)));
    }

    private static List<String> fixture(String version, WireScene scene) throws IOException {
        return Files.readAllLines(FIXTURES.resolve(version).resolve(scene.file()));
    }

    /** Holds a queue in a separate namespace. */
    private final class Theatre implements AutoCloseable {

        private final String namespace = "wire-" + UUID.randomUUID();

        private final ManualClock clock = new ManualClock();

        private final RedisScriptExecutor redis = new RedisScriptExecutor(
                new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
                this.namespace);

        private final RedisMessageStore store = new RedisMessageStore(this.redis);

        private final RedisMessageInspector inspector = new RedisMessageInspector(this.redis,
                RedisWireTests.this.codec);

        private final Stage stage = new Stage(this.store, new RedisPartitionLayoutStore(this.redis), this.clock);

        /** Returns all entries in order: type, key, field or member, value or score. */
        List<String> dump() {
            List<String> lines = new ArrayList<>();
            try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
                for (byte[] key : new RedisKeys(this.namespace, QUEUE).all()) {
                    String name = text(key).substring(this.namespace.length());
                    DataType type = connection.keyCommands().type(key);
                    if (type == DataType.STRING) {
                        lines.add(String.join(SEPARATOR, "string", name, text(connection.stringCommands().get(key))));
                    }
                    else if (type == DataType.HASH) {
                        TreeSet<String> fields = new TreeSet<>();
                        connection.hashCommands()
                            .hGetAll(key)
                            .forEach((field, value) -> fields
                                .add(String.join(SEPARATOR, "hash", name, text(field), oneLine(value))));
                        lines.addAll(fields);
                    }
                    else if (type == DataType.ZSET) {
                        connection.zSetCommands()
                            .zRangeWithScores(key, 0, -1)
                            .forEach((tuple) -> lines.add(String.join(SEPARATOR, "zset", name, text(tuple.getValue()),
                                    "%.0f".formatted(tuple.getScore()))));
                    }
                }
            }
            return lines;
        }

        private static String oneLine(byte[] value) {
            return text(value).replace("\n", NEWLINE);
        }

        void load(List<String> lines) {
            try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
                for (String line : lines) {
                    String[] fields = line.split(SEPARATOR);
                    byte[] key = bytes(this.namespace + fields[1]);
                    switch (fields[0]) {
                        case "string" -> connection.stringCommands().set(key, bytes(fields[2]));
                        case "hash" -> connection.hashCommands()
                            .hSet(key, bytes(fields[2]), bytes(fields[3].replace(NEWLINE, "\n")));
                        case "zset" ->
                            connection.zSetCommands().zAdd(key, Double.parseDouble(fields[3]), bytes(fields[2]));
                        default -> throw new IllegalArgumentException(line);
                    }
                }
            }
        }

        /** Returns all that inspectors report. */
        List<String> inspect() {
            List<String> seen = new ArrayList<>();
            for (String id : List.of("a", "b")) {
                seen.add(String.valueOf(done(this.inspector.find(target(), id))));
            }
            seen.add(String.valueOf(deadLetters()));
            seen.add(String.valueOf(done(this.inspector.statistics(QUEUE))));
            seen.add(String.valueOf(done(this.stage.records().read(QUEUE))));
            return seen;
        }

        private List<DeadLetter> deadLetters() {
            return done(this.inspector.deadLetters(QUEUE, null, 100)).deadLetters();
        }

        /** Returns the partition with the recorded version of the layout. */
        private io.delayqueue.store.PartitionTarget target() {
            int version = done(this.stage.records().read(QUEUE)).map((partitions) -> partitions.version()).orElse(0);
            return new io.delayqueue.store.PartitionTarget(HOME.partition(), version);
        }

        List<String> cancel() {
            return Stream.of("a", "b").map((id) -> done(this.store.cancel(target(), id)).toString()).toList();
        }

        /** Handles due messages, redrives dead letters and handles these, to the end. */
        List<String> process() {
            List<String> happened = new ArrayList<>();
            for (int round = 0; round < 5; round++) {
                ClaimResult claim = done(
                        this.store.claim(QUEUE, new ClaimRequest(10, LEASE, ExpiryPolicy.DEAD_LETTER)));
                happened.add("next %s, expired %d, buried %s".formatted(claim.nextAt(), claim.expired(),
                        claim.deadLettered()));
                claim.messages().forEach((message) -> happened.add(describe(message)));
                List<Lease> leases = claim.messages().stream().map(ClaimedMessage::lease).toList();
                if (!leases.isEmpty()) {
                    happened.add("acknowledged " + done(this.store.acknowledge(QUEUE, leases)));
                }
                if (round > 2) {
                    deadLetters().forEach((deadLetter) -> happened
                        .add("redriven " + done(this.store.redrive(target(), deadLetter.id()))));
                }
                this.clock.advance(Duration.ofSeconds(9));
                if (round > 0) {
                    this.clock.advance(LEASE);
                }
            }
            ClaimResult last = done(this.store.claim(QUEUE, new ClaimRequest(10, LEASE, ExpiryPolicy.DROP)));
            last.messages().forEach((message) -> {
                happened.add(describe(message));
                done(this.store.acknowledge(QUEUE, List.of(message.lease())));
            });
            return happened;
        }

        private String describe(ClaimedMessage message) {
            return "%s %s %d %d %s %s %s %s".formatted(message.lease(), message.dueAt(), message.failures(),
                    message.lapses(), message.redelivered(), message.expiresAt(), message.group(),
                    text(message.envelope()));
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
                connection.keyCommands().del(new RedisKeys(this.namespace, QUEUE).all());
            }
            this.redis.close();
        }

    }

}
