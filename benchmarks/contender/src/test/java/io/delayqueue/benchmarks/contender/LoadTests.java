package io.delayqueue.benchmarks.contender;

import java.util.Arrays;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Arrivals have the requested mean rate and no fixed phase, and are repeatable. */
class LoadTests {

    private static final int COUNT = 60_000;

    private static final long[] TIMES = Load.arrivals(COUNT, 1000);

    @Test
    void theMeanRateIsTheRequestedOne() {
        assertThat(TIMES[COUNT - 1] / 1e9).isCloseTo(60, within(2.0));
        assertThat(TIMES).isSorted();
    }

    @Test
    void arrivalsAreSpreadOverTheMillisecond() {
        int[] tenths = new int[10];
        Arrays.stream(TIMES).forEach((at) -> tenths[(int) (at % 1_000_000 / 100_000)]++);

        assertThat(IntStream.of(tenths))
            .allSatisfy((count) -> assertThat(count).isCloseTo(COUNT / 10, within(COUNT / 100)));
    }

    @Test
    void allRunsHaveTheSameArrivals() {
        assertThat(Load.arrivals(COUNT, 1000)).isEqualTo(TIMES);
    }

}
