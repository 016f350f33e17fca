package io.delayqueue.integration.faults;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.Job.Fate;
import io.delayqueue.fixtures.faults.NodeFaults;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.history.CheckResult;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests failures of handlers and machines under load: no promise of P1, P2, P4 to P10 and
 * P12 is broken, and each message that must be dead-lettered has a dead letter.
 */
@Tag("faults")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("server")
class NodeFailureTests {

    private static final String FEW_LAPSES = "delayqueue.listener.max-lapses=2";

    /** A node that starts may be slow, and a claim that it gives up costs a lease. */
    private static final String PATIENT = "delayqueue.command-timeout=30s";

    private static final String TIMEOUT = "delayqueue.listener.timeout=500ms";

    private static final String NONE_SLOW = "test.fates=FAILS_ONCE=5,COMES_BACK=5,DOOMED=5";

    private static final int MAX_POLLS = 2_000;

    private static final long MOMENT = 2_000;

    private final long seed = Seeds.next();

    private final SplittableRandom random = new SplittableRandom(this.seed);

    @Test
    void aMessageThatEndsItsProcessesIsDeadLettered() throws Exception {
        try (RedisServer redis = redis(); FaultRun run = start(redis, FEW_LAPSES)) {
            run.phase("poison");
            run.seats().get(0).node().tell("give " + Fate.POISON);
            // The first lapse does not count, two more do.
            for (int i = 0; i < MAX_POLLS && restarts(run) < 3; i++) {
                FaultRun.pass(50);
                for (FaultRun.Seat seat : run.seats()) {
                    if (!seat.node().isAlive()) {
                        seat.restart();
                        seat.awaitReady(); // which restarts it too if it ends before
                    }
                }
            }
            assertThat(restarts(run)).isEqualTo(3);
            Map<String, Integer> counts = wellAtTheEnd(run, "poison").counts();
            assertThat(counts.get("leases that ran out")).isGreaterThanOrEqualTo(3);
            assertThat(counts.get("DEAD_LETTER")).isPositive();
        }
    }

    private static int restarts(FaultRun run) {
        return run.seats().stream().mapToInt(FaultRun.Seat::restarts).sum();
    }

    @ParameterizedTest
    @EnumSource(names = { "STACK_OVERFLOW", "CANNOT_BE_LINKED", "OWN_ERROR", "FILLS_THE_HEAP" })
    void aHandlerThrowsErrors(Fate fate) throws Exception {
        try (RedisServer redis = redis(); FaultRun run = start(redis)) {
            give(run, fate);
            // A process that has no memory left may end, or not.
            for (int i = 0; i < 100; i++) {
                FaultRun.pass(50);
                for (FaultRun.Seat seat : run.seats()) {
                    if (!seat.node().isAlive()) {
                        seat.restart();
                    }
                }
            }
            assertThat(wellAtTheEnd(run, fate.name()).counts().get("DEAD_LETTER")).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void aHandlerThatHangsIsEndedByItsTimeout() throws Exception {
        try (RedisServer redis = redis(); FaultRun run = start(redis, TIMEOUT, NONE_SLOW)) {
            give(run, Fate.HANGS);
            FaultRun.pass(MOMENT);
            assertThat(wellAtTheEnd(run, "HANGS with a timeout").counts().get("DEAD_LETTER")).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void aHandlerThatHangsWithoutATimeoutKeepsItsLease() throws Exception {
        try (RedisServer redis = redis(); FaultRun run = start(redis, PATIENT)) {
            give(run, Fate.WAITS);
            FaultRun.pass(3 * FaultRun.LEASE.toMillis());
            run.phase("go on");
            run.seats().forEach((seat) -> seat.node().tell("go on"));
            CheckResult verdict = wellAtTheEnd(run, "HANGS without a timeout");
            assertThat(verdict.counts()).containsEntry("leases that ran out", 0)
                .containsEntry("handled again after a good end", 0);
        }
    }

    @Test
    void aHandlerThatIgnoresInterruptsIsFenced() throws Exception {
        try (RedisServer redis = redis(); FaultRun run = start(redis, TIMEOUT, NONE_SLOW, FEW_LAPSES)) {
            give(run, Fate.DEAF);
            FaultRun.pass(5 * FaultRun.LEASE.toMillis());
            CheckResult verdict = wellAtTheEnd(run, "DEAF with a timeout");
            assertThat(verdict.counts().get("settlements false")).isPositive();
        }
    }

    @Test
    void clocksAreAnHourOff() throws Exception {
        Assumptions.assumeTrue(hasFaketime(), "faketime is not installed");
        try (RedisServer redis = redis(); FaultRun run = new FaultRun("problem", this.seed, redis, 2)) {
            run.seats().get(0).setAhead(3600);
            run.seats().get(1).setAhead(-3600);
            run.start();
            run.phase("clocks off by an hour");
            FaultRun.pass(2 * MOMENT);
            NodeFaults.kill().happen(run, this.random);
            FaultRun.pass(2 * MOMENT);
            wellAtTheEnd(run, "clocks off by an hour");
        }
    }

    @Test
    void aRollingRestartInterruptsNoMessage() throws Exception {
        try (RedisServer redis = redis(); FaultRun run = start(redis, PATIENT)) {
            run.phase("rolling restart");
            for (int i = 0; i < 2; i++) {
                NodeFaults.rollingRestart().happen(run, this.random);
            }
            CheckResult verdict = wellAtTheEnd(run, "rolling restart, counted");
            assertThat(verdict.counts()).containsEntry("leases that ran out", 0)
                .containsEntry("handled again after a good end", 0)
                .doesNotContainKey("settlements false");
        }
    }

    private static RedisServer redis() {
        return RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always");
    }

    private FaultRun start(RedisServer redis, String... settings) throws InterruptedException {
        FaultRun run = new FaultRun("problem", this.seed, redis, 2, settings);
        run.start();
        run.phase("calm");
        FaultRun.pass(MOMENT);
        return run;
    }

    /** Has each node send some that its like, or itself, will suffer from. */
    private static void give(FaultRun run, Fate fate) {
        run.phase(fate.name());
        List<FaultRun.Seat> seats = run.seats();
        for (int i = 0; i < 4; i++) {
            seats.get(i % seats.size()).node().tell("give " + fate);
        }
    }

    private CheckResult wellAtTheEnd(FaultRun run, String problem) throws InterruptedException {
        CheckResult verdict = run.end("problem", problem);
        assertThat(verdict.violations()).as("seed %d, see %s", this.seed, run.directory()).isEmpty();
        return verdict;
    }

    private static boolean hasFaketime() throws InterruptedException {
        try {
            return new ProcessBuilder("faketime", "--version").redirectErrorStream(true).start().waitFor() == 0;
        }
        catch (IOException ex) {
            return false;
        }
    }

}
