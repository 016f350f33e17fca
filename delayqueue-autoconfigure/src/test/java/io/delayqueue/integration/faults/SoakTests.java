package io.delayqueue.integration.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.faults.Fault;
import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.NetworkFaults;
import io.delayqueue.fixtures.faults.NodeFaults;
import io.delayqueue.fixtures.faults.RedisFaults;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.history.CheckResult;
import io.delayqueue.fixtures.history.EventHistory;
import io.delayqueue.fixtures.history.HistoryEvent;
import io.delayqueue.fixtures.history.HistoryEvent.Kind;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An hour, or {@code -Ddq.soak.minutes}, with a fault each minute: no promise is broken,
 * and the resource usage of nodes and Redis does not grow. The first node is never killed
 * nor stopped, so that a leak shows.
 */
@Tag("soak")
@Timeout(value = 4, unit = TimeUnit.HOURS)
@Tag("server")
class SoakTests {

    private static final int MINUTES = Integer.getInteger("dq.soak.minutes", 60);

    /** Growth of up to a quarter in a run may be chance. */
    private static final double TOLERANCE = 1.25;

    private final long seed = Seeds.next();

    private final SplittableRandom random = new SplittableRandom(this.seed);

    @Test
    void nothingIsLostAndNothingGrows() throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always");
                FaultRun run = new FaultRun("soak", this.seed, redis, 3, "test.rate=5")) {
            run.spare(1);
            run.start();
            for (int minute = 1; minute <= MINUTES; minute++) {
                long next = System.nanoTime() + Duration.ofMinutes(1).toNanos();
                run.phase("minute " + minute);
                fault().happen(run, this.random);
                long rest = next - System.nanoTime() - Duration.ofSeconds(12).toNanos();
                FaultRun.pass(Math.max(0, TimeUnit.NANOSECONDS.toMillis(rest)));
                run.send(false);
                run.drain();
                run.sample();
                System.out.println("Minute %d of %d is over".formatted(minute, MINUTES));
                FaultRun.pass(Math.max(1_000, TimeUnit.NANOSECONDS.toMillis(next - System.nanoTime())));
                run.send(true);
            }
            CheckResult verdict = run.end("soak", "one each minute");
            EventHistory history = EventHistory.read(run.directory());
            assertThat(verdict.violations()).as("seed %d, see %s", this.seed, run.directory()).isEmpty();
            for (String measure : List.of("heap", "threads", "files")) {
                assertNoGrowth(measure, samples(history, "n0.0", measure));
            }
            for (String measure : List.of("memory", "keys", "clients")) {
                assertNoGrowth(measure, samples(history, "run", measure));
            }
        }
    }

    private Fault fault() {
        return switch (this.random.nextInt(3)) {
            case 0 -> NodeFaults.any(this.random);
            case 1 -> RedisFaults.any(this.random);
            default -> NetworkFaults.any(this.random);
        };
    }

    private static List<Long> samples(EventHistory history, String node, String measure) {
        List<Long> samples = new ArrayList<>();
        for (HistoryEvent event : history.of(Kind.SAMPLE)) {
            if (event.node().equals(node) && event.fact(measure) != null) {
                samples.add(event.micros(measure));
            }
        }
        return samples;
    }

    private static void assertNoGrowth(String measure, List<Long> samples) {
        int third = samples.size() / 3;
        long first = median(samples.subList(0, third));
        long last = median(samples.subList(samples.size() - third, samples.size()));
        System.out
            .println("%s: median %d in the first third, %d in the last: %s".formatted(measure, first, last, samples));
        assertThat((double) last).as(measure).isLessThanOrEqualTo(first * TOLERANCE);
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

}
