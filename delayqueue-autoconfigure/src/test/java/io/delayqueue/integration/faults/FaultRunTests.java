package io.delayqueue.integration.faults;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.RandomFaults;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A short run of the fault suite: P1, P2, P4 to P6, P9, P10 and P12 while nodes, Redis
 * and the network break at random.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("server")
@Tag("matrix")
class FaultRunTests {

    @Test
    void keepsItsPromisesWhileAllBreaks() throws Exception {
        long seed = Seeds.next();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always");
                FaultRun run = new FaultRun("short", seed, redis, 2)) {
            run.start();
            run.phase("mixture");
            RandomFaults.happen(run, seed, Duration.ofSeconds(5));
            assertThat(run.end("short", "mixture").violations()).as("seed %d, see %s", seed, run.directory()).isEmpty();
        }
    }

}
