package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.DeclarationResult.Standing;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which of several declared definitions applies while nodes restart with one or the
 * other, and when a schedule that none declares is removed.
 */
@Tag("server")
class RedisDeclarationTests {

    private static final QueueName QUEUE = new QueueName("reports");

    private static final String APP = "app";

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static LettuceConnectionFactory connections;

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            "declarations-test");

    private final RedisScheduleStore store = new RedisScheduleStore(this.redis);

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterEach
    void removeAll() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.keyCommands()
                .keys("declarations-test:*".getBytes(StandardCharsets.UTF_8))
                .forEach((each) -> connection.keyCommands().del(each));
        }
        this.redis.close();
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    private Standing declare(String fingerprint) {
        return declare(APP, Map.of("daily", fingerprint)).standings().get("daily");
    }

    private DeclarationResult declare(String owner, Map<String, String> fingerprints) {
        return this.store.declare(QUEUE, owner, true, fingerprints).join();
    }

    private void store(String name, String owner) {
        this.store
            .change(QUEUE,
                    new ScheduleChange(name, null, new ScheduleState(1, 5, 0, 5, 0, 0, false, owner, "{}\n{}"), null,
                            null))
            .join();
    }

    private void minutes(int count, Runnable each) {
        for (int i = 0; i < count; i++) {
            this.clock.advance(MINUTE);
            each.run();
        }
    }

    @Test
    void theDefinitionThatWasFirstSeenLatestApplies() {
        assertThat(declare("old")).isEqualTo(Standing.WINS);
        this.clock.advance(Duration.ofSeconds(1));
        assertThat(declare("new")).isEqualTo(Standing.WINS);

        minutes(10, () -> {
            assertThat(declare("old")).isEqualTo(Standing.OUTDATED);
            assertThat(declare("new")).isEqualTo(Standing.WINS);
        });
    }

    @Test
    void theOlderDefinitionAppliesOnceNoNodeHasTheNewerOne() {
        declare("old");
        this.clock.advance(MINUTE);
        declare("new");

        this.clock.advance(Duration.ofSeconds(150));
        assertThat(declare("old")).isEqualTo(Standing.OUTDATED);
        this.clock.advance(Duration.ofMillis(1));
        assertThat(declare("old")).isEqualTo(Standing.WINS);
        assertThat(declare("new")).isEqualTo(Standing.WINS);
        assertThat(declare("old")).isEqualTo(Standing.OUTDATED);
    }

    @Test
    void ofTwoDefinitionsThatWereFirstSeenTogetherOneApplies() {
        declare("a");
        assertThat(declare("b")).isEqualTo(Standing.WINS);
        assertThat(declare("a")).isEqualTo(Standing.OUTDATED);
    }

    @Test
    void aScheduleThatNoNodeHasDeclaredForAnHourIsRemoved() {
        declare(APP, Map.of("daily", "one", "dropped", "two"));
        store("daily", APP);
        store("dropped", APP);
        store("put", "");

        minutes(60, () -> assertThat(declare(APP, Map.of("daily", "one")).removed()).isEmpty());
        this.clock.advance(MINUTE);

        assertThat(declare(APP, Map.of("daily", "one")).removed()).containsExactly("dropped");
        assertThat(this.store.list(QUEUE, null, 10).join().schedules()).extracting(ScheduleSnapshot::name)
            .containsExactly("daily", "put");
    }

    /**
     * The declaration is recorded before the application finds that it does not apply.
     */
    @Test
    void aScheduleThatACallHasPutIsNotRemovedByADeclarationThatEnds() {
        declare(APP, Map.of("put", "one"));
        store("put", "");

        minutes(62, () -> assertThat(declare(APP, Map.of()).removed()).isEmpty());

        assertThat(this.store.find(QUEUE, "put").join().state()).isNotNull();
    }

    @Test
    void twentyDefinitionsOfAScheduleAreKept() {
        for (int i = 0; i < 30; i++) {
            declare("definition" + i);
            this.clock.advance(Duration.ofSeconds(1));
        }

        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            byte[] key = connection.keyCommands()
                .keys("declarations-test:{*schedule-declarations".getBytes(StandardCharsets.UTF_8))
                .iterator()
                .next();
            String declarations = new String(
                    connection.hashCommands().hGet(key, "daily".getBytes(StandardCharsets.UTF_8)),
                    StandardCharsets.UTF_8);
            assertThat(declarations.split(" ")).hasSize(1 + 20)
                .anyMatch((each) -> each.startsWith("definition29,"))
                .noneMatch((each) -> each.startsWith("definition9,"));
        }
    }

    @Test
    void theLastScheduleOfAnApplicationIsRemoved() {
        declare(APP, Map.of("dropped", "one"));
        store("dropped", APP);

        minutes(60, () -> assertThat(declare(APP, Map.of()).removed()).isEmpty());
        this.clock.advance(MINUTE);

        assertThat(declare(APP, Map.of()).removed()).containsExactly("dropped");
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            assertThat(connection.keyCommands().keys("declarations-test:{*".getBytes(StandardCharsets.UTF_8)))
                .isEmpty();
        }
    }

    @Test
    void anApplicationThatWasDownForThreeDaysLosesNone() {
        declare(APP, Map.of("daily", "one", "dropped", "two"));
        store("dropped", APP);

        this.clock.advance(Duration.ofDays(3));

        assertThat(declare(APP, Map.of("daily", "one")).removed()).isEmpty();
        minutes(59, () -> assertThat(declare(APP, Map.of("daily", "one")).removed()).isEmpty());
        assertThat(this.store.find(QUEUE, "dropped").join().state()).isNotNull();
    }

    @Test
    void anApplicationWithoutANameRemovesNothing() {
        declare(APP, Map.of("daily", "one", "dropped", "two"));
        store("dropped", APP);

        minutes(70, () -> this.store.declare(QUEUE, APP, false, Map.of("daily", "one")).join());

        assertThat(this.store.find(QUEUE, "dropped").join().state()).isNotNull();
    }

    @Test
    void aNameBelongsToOneApplicationAsLongAsThatHasNodes() {
        declare("one");

        assertThat(declare("other", Map.of("daily", "two")).standings()).containsValue(Standing.FOREIGN);
        this.clock.advance(Duration.ofHours(1).plusMillis(1));
        assertThat(declare("other", Map.of("daily", "two")).standings()).containsValue(Standing.WINS);
        assertThat(declare("one")).isEqualTo(Standing.FOREIGN);
    }

    @Test
    void anApplicationWithANameTakesOverFromOneWithoutAfterAnHour() {
        this.store.declare(QUEUE, "?", false, Map.of("daily", "one")).join();

        assertThat(declare("two")).isEqualTo(Standing.FOREIGN);
        this.clock.advance(Duration.ofHours(1).plusMillis(1));
        assertThat(declare("two")).isEqualTo(Standing.WINS);
        assertThat(this.store.declare(QUEUE, "?", false, Map.of("daily", "one")).join().standings())
            .containsValue(Standing.FOREIGN);
    }

    /**
     * Also while its application declares others: those without a name share an owner.
     */
    @Test
    void aNameIsFreeAnHourAfterItsLastDeclaration() {
        this.store.declare(QUEUE, "?", false, Map.of("daily", "one", "weekly", "one")).join();
        minutes(60, () -> this.store.declare(QUEUE, "?", false, Map.of("weekly", "one")).join());
        assertThat(declare("two")).isEqualTo(Standing.FOREIGN);

        this.clock.advance(Duration.ofMillis(1));
        assertThat(declare("two")).isEqualTo(Standing.WINS);
        assertThat(declare(APP, Map.of("weekly", "two")).standings()).containsValue(Standing.FOREIGN);
    }

    @Test
    void theLastDeclarationIsRead() {
        store("daily", APP);
        assertThat(this.store.find(QUEUE, "daily").join().declaredAt()).isNull();

        declare("one");

        Instant declared = this.clock.now();
        this.clock.advance(MINUTE);
        declare(APP, Map.of("weekly", "one"));

        assertThat(this.store.find(QUEUE, "daily").join().declaredAt()).isEqualTo(declared);
        declare("other", Map.of("weekly", "one"));
        assertThat(this.store.find(QUEUE, "weekly").join().declaredAt()).isNull();
    }

}
