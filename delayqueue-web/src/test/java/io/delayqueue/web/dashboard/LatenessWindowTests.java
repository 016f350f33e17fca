package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves the time, and counts the handlers that begin in it. */
class LatenessWindowTests {

    private final SortedMap<Long, Long> orders = new TreeMap<>();

    private long nanos = -5;

    private final LatenessWindow window = new LatenessWindow(this::counts, () -> this.nanos);

    private Map<String, SortedMap<Long, Long>> counts() {
        Map<String, SortedMap<Long, Long>> copy = new HashMap<>();
        copy.put("orders", new TreeMap<>(this.orders));
        copy.put("idle", new TreeMap<>(Map.of(1_000L, 7L)));
        return copy;
    }

    private void begin(Duration lateness, long count) {
        this.orders.merge(lateness.toNanos() / 1_000, count, Long::sum);
    }

    private void pass(Duration time) {
        this.nanos += time.toNanos();
    }

    @Test
    void countsOnlyHandlersThatBeganWithinTheWindow() {
        begin(Duration.ofSeconds(90), 1_000);
        assertThat(this.window.p99()).as("nothing to compare with").isEmpty();
        pass(Duration.ofSeconds(10));
        begin(Duration.ofMillis(20), 99);
        begin(Duration.ofSeconds(3), 1);
        assertThat(this.window.p99()).isEqualTo(Map.of("orders", 20L));
        begin(Duration.ofSeconds(3), 9);
        assertThat(this.window.p99()).isEqualTo(Map.of("orders", 3_000L));
    }

    @Test
    void forgetsWhatBeganLongerAgo() {
        this.window.p99();
        begin(Duration.ofSeconds(3), 1);
        pass(Duration.ofSeconds(50));
        assertThat(this.window.p99()).isEqualTo(Map.of("orders", 3_000L));
        pass(Duration.ofSeconds(50));
        assertThat(this.window.p99()).isEmpty();
        pass(Duration.ofMinutes(5));
        begin(Duration.ofSeconds(3), 1);
        assertThat(this.window.p99()).as("nobody has looked for minutes").isEmpty();
    }

}
