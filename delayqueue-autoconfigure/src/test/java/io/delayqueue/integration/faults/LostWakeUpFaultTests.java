package io.delayqueue.integration.faults;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.delayqueue.fixtures.faults.Fault;
import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.RedisFaults;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.history.CheckResult;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: messages without a notification are found by the safety poll. Messages that are
 * sent while no wake-up comes through are later than others by no more than that, and a
 * second.
 */
@Tag("faults")
@Tag("server")
class LostWakeUpFaultTests {

    @ParameterizedTest
    @MethodSource("faults")
    void theSafetyPollFindsAll(Fault fault) throws Exception {
        long seed = Seeds.next();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                FaultRun run = new FaultRun("wake-ups", seed, redis, 2)) {
            run.start();
            run.phase("heard");
            FaultRun.pass(5000);
            run.phase("not heard");
            SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < 4; i++) {
                fault.happen(run, random);
            }
            CheckResult verdict = run.end("wake-ups", fault.name());

            assertThat(verdict.violations()).as("seed %d, see %s", seed, run.directory()).isEmpty();
            long heard = worst(verdict, "heard");
            long notHeard = worst(verdict, "not heard");
            System.out.printf("%s, seed %d: at most %d us late, else %d us%n", fault, seed, notHeard, heard);
            // A machine that is busy makes both of them later.
            assertThat(notHeard - heard).as("seed %d, see %s", seed, run.directory())
                .isLessThan(FaultRun.SAFETY_POLL.plusSeconds(1).toNanos() / 1000);
        }
    }

    static Stream<Fault> faults() {
        return List.of(RedisFaults.cutSubscriptions(), RedisFaults.forbid("publish")).stream();
    }

    private static long worst(CheckResult verdict, String phase) {
        long[] lateness = verdict.lateness().getOrDefault(phase, new long[] { 0 });
        return lateness[lateness.length - 1];
    }

}
