package io.delayqueue.integration.faults;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.faults.Workload;
import io.delayqueue.fixtures.history.CheckResult;
import io.delayqueue.fixtures.history.CheckResult.Violation;
import io.delayqueue.fixtures.history.EventHistory;
import io.delayqueue.fixtures.history.HistoryEvent;
import io.delayqueue.fixtures.history.PersistenceLosses;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the acknowledged writes (P1, P6) that Redis still has after a restart, by kind
 * of persistence: never fewer than it promises. Nodes keep running.
 */
@Tag("faults")
@Tag("server")
class PersistenceFaultTests {

    private static final long SECOND = 1_000_000;

    @Test
    void nothingIsLostWithAppendfsyncAlways() throws Exception {
        Outcome outcome = run("appendfsync always, killed", Cut.KILL, "appendonly yes", "appendfsync always");

        assertThat(outcome.verdict().violations()).as("%s", outcome).isEmpty();
        assertThat(outcome.losses().all()).isEmpty();
    }

    /**
     * Data that Redis has written belongs to the operating system, which outlives the
     * process.
     */
    @Test
    void nothingIsLostWithEverysecWhenTheProcessIsKilled() throws Exception {
        Outcome outcome = run("appendfsync everysec, killed", Cut.KILL, "appendonly yes", "appendfsync everysec");

        assertThat(outcome.verdict().violations()).as("%s", outcome).isEmpty();
        assertThat(outcome.losses().all()).isEmpty();
    }

    @Test
    void aPowerCutLosesTheLastSecondWithEverysec() throws Exception {
        Outcome outcome = run("appendfsync everysec, power cut", Cut.POWER, "appendonly yes", "appendfsync everysec");

        outcome.assertNothingLostBefore(outcome.killedAt() - 2 * SECOND);
        assertThat(outcome.losses().sends()).as("the cut was one").isNotEmpty();
    }

    @Test
    void aSnapshotLosesWhatCameAfterIt() throws Exception {
        Outcome outcome = run("snapshot", Cut.SNAPSHOT);

        outcome.assertNothingLostBefore(outcome.keptUntil());
        assertThat(outcome.losses().sends()).as("there was something to lose").isNotEmpty();
    }

    @Test
    void withoutPersistenceAllIsLostAndWorkGoesOn() throws Exception {
        Outcome outcome = run("no persistence", Cut.KILL);

        assertThat(outcome.losses().sends()).isNotEmpty()
            .allSatisfy((send) -> assertThat(send.at()).isLessThan(outcome.restartedAt()));
        assertThat(outcome.partitions()).as("the record of the spread queue, written again").isNotNull();
    }

    private Outcome run(String fault, Cut cut, String... settings) throws Exception {
        long seed = Seeds.next();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), settings);
                FaultRun run = new FaultRun("persistence", seed, redis, 2)) {
            run.start();
            run.phase("before");
            FaultRun.pass(4000);
            NavigableMap<Long, Long> sizes = cut.watch(redis);
            run.note(fault, "broken");
            redis.kill();
            long killedAt = now();
            long keptUntil = (cut == Cut.POWER) ? truncate(redis, sizes, killedAt - SECOND) : sizes.firstKey();
            redis.restart();
            long restartedAt = now();
            run.note(fault, "mended");
            run.phase("after");
            FaultRun.pass(4000);
            CheckResult verdict = run.end("persistence", fault);
            Outcome outcome = new Outcome(killedAt, keptUntil, restartedAt, verdict,
                    PersistenceLosses.in(EventHistory.read(run.directory()), killedAt),
                    redis.commands().get("faults:{" + Workload.SPREAD + "}:partitions"));
            System.out.printf("%s, seed %d, %s: %s%n", fault, seed, run.directory(), outcome);
            outcome.assertSound();
            return outcome;
        }
    }

    private static long now() {
        return HistoryEvent.micros(Instant.now());
    }

    /** Forgets what was not there at a time, and returns when that was. */
    private static long truncate(RedisServer redis, NavigableMap<Long, Long> sizes, long at) throws IOException {
        Map.Entry<Long, Long> last = sizes.floorEntry(at);
        try (RandomAccessFile file = new RandomAccessFile(appendOnlyFile(redis).toFile(), "rw")) {
            assertThat(file.length()).isGreaterThan(last.getValue());
            file.setLength(last.getValue());
        }
        return last.getKey();
    }

    private static Path appendOnlyFile(RedisServer redis) throws IOException {
        try (Stream<Path> files = Files.walk(redis.directory())) {
            return files.filter((file) -> file.toString().endsWith("incr.aof")).findFirst().orElseThrow();
        }
    }

    /** How Redis ends. */
    private enum Cut {

        KILL, POWER, SNAPSHOT;

        /** Has the load go on until the end, and returns what was on disk when. */
        NavigableMap<Long, Long> watch(RedisServer redis) throws Exception {
            NavigableMap<Long, Long> sizes = new TreeMap<>();
            sizes.put(now(), 0L);
            if (this == SNAPSHOT) {
                redis.commands().save();
            }
            long end = now() + 2 * SECOND;
            while (now() < end) {
                if (this == POWER) {
                    long before = now();
                    sizes.put(before, Files.size(appendOnlyFile(redis)));
                }
                FaultRun.pass(20);
            }
            return sizes;
        }

    }

    /**
     * The result of a run.
     *
     * @param killedAt when Redis was gone, in microseconds as all of these
     * @param keptUntil what was acknowledged before was kept
     * @param restartedAt when it was there again
     * @param partitions the record of the spread queue at the end
     */
    private record Outcome(long killedAt, long keptUntil, long restartedAt, CheckResult verdict,
            PersistenceLosses losses, String partitions) {

        void assertNothingLostBefore(long time) {
            assertThat(this.losses.all()).as("%s", this)
                .allSatisfy((answer) -> assertThat(answer.at()).isBetween(time, this.killedAt));
        }

        /**
         * Lost writes break other promises too, from fencing to the count of failures.
         * The structures are still consistent, and no message appears that was never
         * sent.
         */
        void assertSound() {
            assertThat(this.verdict.violations()).extracting(Violation::promise).doesNotContain("P10", "checker");
            assertThat(this.verdict.violations()).extracting(Violation::text)
                .noneMatch((text) -> text.startsWith("a send failed with no effect") || text.startsWith("nobody sent"))
                .filteredOn((text) -> text.startsWith("lost: "))
                .hasSameSizeAs(this.losses.sends());
        }

        @Override
        public String toString() {
            return "%s; kept until %d ms before the end; %s".formatted(this.losses,
                    (this.killedAt - this.keptUntil) / 1000, this.verdict.counts());
        }

    }

}
