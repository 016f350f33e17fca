package io.delayqueue.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An hour, or {@code -Ddq.soak.minutes}, with a fault each minute: no promise is broken,
 * and what nodes and Redis use does not grow. The first node is never killed nor stopped,
 * so that what it keeps shows.
 */
@Tag("soak")
@Timeout(value = 4, unit = TimeUnit.HOURS)
@Tag("server")
class SoakTests {

    private static final int MINUTES = Integer.getInteger("dq.soak.minutes", 60);

    /** Growth of a quarter in a run is not told from chance. */
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
                TimeUnit.NANOSECONDS.sleep(Math.max(0, rest));
                run.send(false);
                run.drain();
                run.sample();
                System.out.println("Minute %d of %d is over".formatted(minute, MINUTES));
                TimeUnit.NANOSECONDS.sleep(Math.max(1_000_000_000, next - System.nanoTime()));
                run.send(true);
            }
            Verdict verdict = run.end("soak", "one each minute");
            History history = History.read(run.directory());
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

    private static List<Long> samples(History history, String node, String measure) {
        List<Long> samples = new ArrayList<>();
        for (Event event : history.of(Kind.SAMPLE)) {
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
