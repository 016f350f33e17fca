package io.delayqueue.benchmarks.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.benchmarks.jmh.Allocations.Figures;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** An allocation above its goal fails the comparison, whatever it was before. */
class AllocationsTests {

    private final List<String> missed = new ArrayList<>();

    private String table(double base, double changed) {
        return Allocations.table(Map.of("SendBenchmark.send", new Figures(1, base)),
                Map.of("SendBenchmark.send", new Figures(2, changed)), this.missed);
    }

    @Test
    void anAllocationWithinItsGoalIsMet() {
        assertThat(table(1000, 500)).contains("SendBenchmark.send", " x 0.50 ").doesNotContain("NOT MET");
        assertThat(this.missed).isEmpty();
    }

    @Test
    void anAllocationAboveItsGoalIsNotMet() {
        assertThat(table(90_000, 80_000)).contains("NOT MET");
        assertThat(this.missed).containsExactly("SendBenchmark.send");
    }

    @Test
    void everyGoalIsThatOfABenchmark() {
        assertThat(Allocations.GOALS.keySet()).allSatisfy((name) -> {
            String[] parts = name.split("\\.");
            assertThat(Class.forName("io.delayqueue.benchmarks.jmh." + parts[0]).getMethods())
                .anyMatch((method) -> method.getName().equals(parts[1]));
        });
    }

}
