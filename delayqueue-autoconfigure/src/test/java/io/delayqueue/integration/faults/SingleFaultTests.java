package io.delayqueue.integration.faults;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.fixtures.faults.Fault;
import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.NetworkFaults;
import io.delayqueue.fixtures.faults.NodeFaults;
import io.delayqueue.fixtures.faults.RedisFaults;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.history.CheckResult;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each fault alone, under load, a few times, between a while of calm and another: no
 * promise of P1, P2, P4 to P10 and P12 is broken. {@code -Ddq.faults.only=<pattern>}
 * chooses among them.
 */
@Tag("faults")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("server")
class SingleFaultTests {

    private static final String DIES = "node killed ";

    private static final long CALM = 2_000;

    private static final int TIMES = 3;

    @ParameterizedTest
    @MethodSource("faults")
    void breaksNoPromise(Fault fault) throws Exception {
        long seed = Seeds.next();
        SplittableRandom random = new SplittableRandom(seed);
        boolean kills = fault.name().startsWith(DIES);
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always");
                FaultRun run = new FaultRun("single", seed, redis, 2,
                        "test.fates=FAILS_ONCE=10,SLOW=5,COMES_BACK=10,DOOMED=10")) {
            run.start();
            run.phase("calm");
            FaultRun.pass(CALM);
            run.phase(fault.name());
            for (int i = 0; i < (kills ? 1 : TIMES); i++) {
                fault.happen(run, random);
            }
            run.phase("after");
            FaultRun.pass(CALM);
            CheckResult verdict = run.end("single", fault.name());
            assertThat(verdict.violations()).as("seed %d, see %s", seed, run.directory()).isEmpty();
            if (kills) {
                String point = fault.name().substring(fault.name().indexOf(" at ") + " at ".length());
                assertThat(verdict.counts()).as("see %s", run.directory()).containsKey("dies at " + point);
            }
        }
    }

    static Stream<Fault> faults() {
        Predicate<String> chosen = Pattern.compile(System.getProperty("dq.faults.only", "")).asPredicate();
        return Stream.of(NodeFaults.all(), NetworkFaults.all(), RedisFaults.all())
            .flatMap((faults) -> faults.stream())
            .filter((fault) -> chosen.test(fault.name()));
    }

}
