package io.delayqueue.integration.faults;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.RandomFaults;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many runs in which nodes, Redis and the network break at random: no promise of P1, P2,
 * P4 to P6, P9, P10 and P12 is broken in any.
 */
@Tag("faults")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("server")
class MixedFaultTests {

    @ParameterizedTest
    @MethodSource("seeds")
    void keepItsPromises(long seed) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always");
                FaultRun run = new FaultRun("mixed", seed, redis, 3)) {
            run.start();
            run.phase("mixture");
            RandomFaults.happen(run, seed, Duration.ofSeconds(12));
            assertThat(run.end("mixed", "mixture").violations()).as("seed %d, see %s", seed, run.directory()).isEmpty();
        }
    }

    static LongStream seeds() {
        long first = Seeds.next();
        return LongStream.range(first, first + Integer.getInteger("dq.faults.runs", 10));
    }

}
