package io.delayqueue.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.admin.QueueActivity.Minute;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ActivityReport;
import io.lettuce.core.ScriptOutputType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the activity of all queues that have a place takes at most 2 MB of Redis,
 * that it expires, and that it is read without gaps.
 */
@Tag("server")
class ActivityMemoryTests {

    private static final int MOST = 2_000_000;

    private final RedisServer server = RedisServer.shared(RedisBinary.REDIS_7_0);

    private final LettuceConnectionFactory connections = ConnectionFactories.lettuce(this.server);

    private final ManualClock clock = new ManualClock();

    private final String namespace = "activity-" + UUID.randomUUID();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(this.connections, Duration.ofSeconds(30)), this::micros),
            this.namespace);

    /** Time that passes after each call. */
    private Duration passes = Duration.ZERO;

    private final RedisActivityStore store = new RedisActivityStore(this.redis);

    @AfterEach
    void close() {
        keys().forEach(this.server.commands()::del);
        this.redis.close();
        this.connections.destroy();
    }

    private long micros() {
        long micros = this.clock.getAsLong();
        this.clock.advance(this.passes);
        return micros;
    }

    private List<String> keys() {
        return this.server.commands().keys(this.namespace + ":*");
    }

    private long memory(String key) {
        return this.server.commands()
            .eval("return redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', 0)", ScriptOutputType.INTEGER, key);
    }

    @Test
    void threeHoursOf200QueuesTakeAtMostTwoMegabytesAndExpire() {
        for (int minute = 0; minute <= QueueActivity.MINUTES; minute++) {
            for (int part = 0; part < QueueActivity.MAX_QUEUES / ActivityReport.MAX_QUEUES; part++) {
                record(part, minute);
            }
            this.clock.advance(Duration.ofMinutes(1));
        }

        assertThat(keys()).hasSize(3)
            .allSatisfy((key) -> assertThat(this.server.commands().pttl(key)).isPositive()
                .isLessThan(Duration.ofHours(7).toMillis()));
        long all = keys().stream().mapToLong(this::memory).sum();
        System.out.println("Activity of 200 queues for three hours: " + all + " bytes");
        assertThat(all).isBetween(1_000_000L, (long) MOST);
    }

    /** A namespace may be used for seconds only, as by a test. */
    @Test
    void allKeysExpireAfterOneReport() {
        long[] counts = new long[ActivityReport.FIELDS];
        this.store.report(new ActivityReport("node", 1, Duration.ZERO, Map.of("orders", counts))).join();

        assertThat(keys()).hasSize(3)
            .allSatisfy((key) -> assertThat(this.server.commands().pttl(key)).as(key).isPositive());
    }

    /**
     * Otherwise each process that has ever reported would keep an entry. An outage does
     * not count.
     */
    @ParameterizedTest
    @ValueSource(ints = { 0, 20 })
    void forgetsNodesThatReportNothingWhileOthersDoAndUnreadableEntries(int outage) {
        String nodes = this.namespace + ":{_directory}:activity-nodes";
        this.server.commands().hset(nodes, "unreadable", "x");
        this.store.report(new ActivityReport("gone", 1, Duration.ZERO, Map.of())).join();
        for (int minute = 1; minute <= 12; minute++) {
            this.clock.advance(Duration.ofMinutes((minute == 9) ? 1 + outage : 1));
            this.store.report(new ActivityReport("node", 2 * minute, Duration.ZERO, Map.of())).join();
            this.store.report(new ActivityReport("node", 2 * minute + 1, Duration.ZERO, Map.of())).join();
            assertThat(this.server.commands().hkeys(nodes)).as("after %d minutes", minute)
                .containsExactlyInAnyOrder((minute < 12) ? new String[] { "gone", "node" } : new String[] { "node" });
        }
    }

    /** The queue is read in parts, each of which may find a later minute. */
    @Test
    void leavesOutNoMinuteWhenOneEndsDuringARead() {
        long[] counts = new long[ActivityReport.FIELDS];
        for (int minute = 0; minute < QueueActivity.MINUTES; minute++) {
            this.store.report(new ActivityReport("node", minute + 1, Duration.ZERO, Map.of("orders", counts))).join();
            this.clock.advance(Duration.ofMinutes(1));
        }
        this.clock.advance(Duration.ofMinutes(-1));
        this.passes = Duration.ofMinutes(1);

        List<Minute> minutes = this.store.read("orders").join().minutes();
        Instant last = ManualClock.START.plus(Duration.ofMinutes(QueueActivity.MINUTES - 1));
        assertThat(minutes.stream().filter(Minute::reported)).isNotEmpty()
            .isEqualTo(minutes.stream().filter((minute) -> !minute.from().isAfter(last)).toList());
    }

    private void record(int part, int minute) {
        Map<String, long[]> counts = new HashMap<>();
        Map<String, Backlog> backlogs = new HashMap<>();
        for (int i = 0; i < ActivityReport.MAX_QUEUES; i++) {
            long[] all = new long[ActivityReport.FIELDS];
            Arrays.setAll(all, (field) -> 100_000 + field);
            String queue = "queue-with-a-long-name-of-a-part-%d-%03d".formatted(part, i);
            counts.put(queue, all);
            backlogs.put(queue, new Backlog(1_000_000, 1_000_000, 1_000_000, 1_000_000));
        }
        this.store.report(new ActivityReport("node" + part, minute + 1, Duration.ZERO, counts)).join();
        this.store.record(this.clock.now(), backlogs, true).join();
    }

}
