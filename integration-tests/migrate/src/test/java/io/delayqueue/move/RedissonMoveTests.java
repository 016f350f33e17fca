package io.delayqueue.move;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.redis.RedissonSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves what real versions of Redisson have written. */
@Tag("server")
class RedissonMoveTests extends MoveTestBase {

    private static final String TIMEOUTS = "redisson_delay_queue_timeout:{orders}";

    /** What the applications write: {@code json} or {@code kryo}. */
    private String codec = "json";

    @ParameterizedTest
    @MethodSource("everyVersion")
    void everyEntryIsMovedWithItsDueTime(String version) {
        send(version, 0, COPIED, HOUR, 60_000);
        Map<String, Long> due = scene().dueIn(TIMEOUTS);
        assertThat(due).hasSize(COPIED);

        scene().run("plan");
        scene().run("copy", "--dry-run");
        assertThat(scene().dueIn(TIMEOUTS)).isEqualTo(due);
        assertThat(redis().commands().keys("*migrate*")).isEmpty();

        System.out.println(scene().run("copy"));

        assertThat(redis().commands().exists(TIMEOUTS, "redisson_delay_queue:{orders}")).isZero();
        assertThat(scene().dueInTarget()).isEqualTo(due);
        assertThat(scene().run("verify", "--check=5000"))
            .contains("%,d found with their due time".formatted(Math.min(COPIED, 5_000)));
        cancelOne();
        assertThat(scene().execute(1, "verify", "--check=" + COPIED))
            .contains("messages of queue 'orders' that are not due yet are not there");
        scene().run("finish");
        assertThat(redis().commands().keys("*migrate*")).isEmpty();
    }

    /** Kryo is the default codec of these versions, and may run code when it reads. */
    @ParameterizedTest
    @MethodSource("everyVersion")
    @Tag("matrix")
    void valuesOfKryoAreKeptUntilADecoderOfTheApplicationReadsThem(String version) {
        this.codec = "kryo";
        send(version, 0, 10, HOUR, 60_000);
        List<Long> due = scores(TIMEOUTS);

        assertThat(scene().execute(1, "copy", "--dry-run")).contains("10 unreadable");
        assertThat(scores(TIMEOUTS)).isEqualTo(due);
        assertThat(scene().execute(1, "copy")).contains("10 entries of queue 'orders' are unreadable",
                "name a decoder by --payload");
        assertThat(scene().execute(1, "verify")).contains("10 entries of queue 'orders' are unreadable");
        assertThat(scene().execute(1, "finish")).contains("10 entries of queue 'orders' are unreadable");
        assertThat(redis().commands().hlen("delayqueue_migrate:redisson:{orders}")).isEqualTo(10);
        assertThat(redis().commands().keys("shop:*")).isEmpty();

        try (PeerJvm copy = scene().startWith(version, "copy",
                "--payload=io.delayqueue.peers.redisson.KryoOrderDecoder")) {
            assertThat(copy.exit()).as(copy::text).isZero();
        }

        assertThat(scene().dueInTarget().keySet()).containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5", "6", "7",
                "8", "9");
        assertThat(scores("shop:{orders}:scheduled")).isEqualTo(due);
        scene().run("verify", "--check=10");
        scene().run("finish");
    }

    private List<Long> scores(String key) {
        return redis().commands()
            .zrangeWithScores(key, 0, -1)
            .stream()
            .map((entry) -> (long) entry.getScore())
            .toList();
    }

    private void cancelOne() {
        String id = redis().commands().zrange("shop:{orders}:scheduled", 0, 0).get(0);
        redis().commands().zrem("shop:{orders}:scheduled", id);
        redis().commands().hdel("shop:{orders}:messages", id);
    }

    @Test
    void aFollowThatIsTerminatedSettlesItsBatchAndWritesItsReport() {
        send("redisson-4.7", 0, 20, HOUR, 60_000);
        try (PeerJvm follow = scene().start("follow")) {
            Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> count("sent") == 20);
            follow.terminate();
            assertThat(follow.text()).contains("20 = 20 sent", "Result: done");
        }
        assertThat(scene().report("follow")).contains("this run        20 sent");
        try (PeerJvm verify = scene().start("verify")) {
            assertThat(verify.exit()).as(verify::text).isZero();
        }
    }

    @Test
    @Tag("matrix")
    void aCopyThatIsKilledAndAFinishThatEndsHalfWayAreRepeated() {
        send("redisson-4.7", 0, COPIED, HOUR, 60_000);
        Map<String, Long> due = dueInSource();

        try (PeerJvm copy = scene().start("copy", "--batch=50", "--rate=" + Math.max(50, COPIED / 4))) {
            until(() -> count("taken") >= COPIED / 2 || !copy.isAlive());
            assertThat(copy.isAlive()).as(copy::text).isTrue();
        }
        scene().run("copy");
        assertThat(scene().dueInTarget()).isEqualTo(due);
        assertThat(scene().run("verify", "--check=" + COPIED))
            .contains("%,d found with their due time".formatted(COPIED));

        finishFirstStep();
        assertThat(redis().commands().hlen("delayqueue_migrate:redisson:{orders}")).isPositive().isLessThan(COPIED);
        scene().run("finish");
        assertThat(redis().commands().keys("*migrate*")).isEmpty();
        assertThat(scene().dueInTarget()).isEqualTo(due);
    }

    /** Deletes some of the records, as a process that is killed then. */
    private void finishFirstStep() {
        AtomicInteger steps = new AtomicInteger();
        try (MigrationSource source = new RedissonSource()) {
            source.open(new SourceOptions("redis://127.0.0.1:" + redis().port(), null, null, Map.of()));
            source.finish("orders", () -> steps.getAndIncrement() > 0);
        }
    }

    private static void until(Callable<Boolean> condition) {
        Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofMinutes(2)).until(condition);
    }

    @ParameterizedTest
    @Tag("matrix")
    @MethodSource("everyVersion")
    @Timeout(value = 4, unit = TimeUnit.HOURS)
    @Execution(ExecutionMode.CONCURRENT)
    void nothingIsLostOrHandledByBothWhileTheToolIsKilledAndBothApplicationsRun(String version) {
        moveUnderFire(version);
    }

    static Stream<String> everyVersion() {
        return Stream.of("redisson-3.20", "redisson-3.27", "redisson-4.7")
            .filter((version) -> isTested(version, version.equals("redisson-4.7")));
    }

    @Override
    String source() {
        return "redisson";
    }

    @Override
    Map<String, Long> dueInSource() {
        return scene().dueIn(TIMEOUTS);
    }

    @Override
    PeerJvm peer(String version, Object... arguments) {
        Object[] all = new Object[arguments.length + 3];
        all[0] = redis().port();
        all[1] = "orders";
        all[2] = this.codec;
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return PeerJvm.start(version, "io.delayqueue.peers.redisson.RedissonPeer", all);
    }

}
