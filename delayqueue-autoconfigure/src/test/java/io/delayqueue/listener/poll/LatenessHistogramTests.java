package io.delayqueue.listener.poll;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.delayqueue.store.LatenessClasses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class LatenessHistogramTests {

    private final LatenessHistogram counts = new LatenessHistogram();

    @Test
    void countsNothingBeforeTheFirst() {
        assertThat(this.counts.byMicros()).isEmpty();
    }

    @Test
    void countsByBoundsThatAreAtMostAnEighthAbove() {
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            LatenessHistogram one = new LatenessHistogram();
            long micros = 8 + random.nextLong(1L << (4 + random.nextInt(35)));
            one.add(TimeUnit.MICROSECONDS.toNanos(micros));
            long bound = one.byMicros().firstKey();
            assertThat(bound).as("of %d", micros).isGreaterThan(micros).isLessThanOrEqualTo(micros + micros / 8 + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = { Long.MIN_VALUE, -1, 0, 999, 1_999 })
    void countsWhatIsHardlyLateAsOneStep(long nanos) {
        this.counts.add(nanos);
        assertThat(this.counts.byMicros()).isEqualTo(Map.of(2L, 1L));
    }

    @ParameterizedTest
    @ValueSource(longs = { 1L << 51, Long.MAX_VALUE })
    void countsWhatIsLaterThanAllWithTheLatest(long nanos) {
        this.counts.add(nanos);
        assertThat(this.counts.byMicros()).isEqualTo(Map.of(1L << 40, 1L));
    }

    /** 4.75 s are in the step up to 5.24 s, but not later than 5 s. */
    @ParameterizedTest
    @CsvSource({ "4_750_000_000, 7", "5_000_000_000, 7", "5_000_000_001, 8", "-1, 0", "20_000_000, 0", "20_000_001, 1",
            "600_000_000_001, 12", "9223372036854775807, 12" })
    void countsEachValueInItsOwnClass(String nanos, int expected) {
        this.counts.add(Long.parseLong(nanos.replace("_", "")));
        long[] classes = new long[LatenessClasses.COUNT];
        classes[expected] = 1;
        assertThat(this.counts.byClass()).isEqualTo(classes);
    }

    @Test
    void losesNoneOfThoseThatComeTogether() {
        IntStream.range(0, 100_000)
            .parallel()
            .forEach((i) -> this.counts.add(TimeUnit.MILLISECONDS.toNanos(List.of(1, 1_000).get(i % 2))));
        assertThat(this.counts.byMicros()).isEqualTo(Map.of(1_024L, 50_000L, 1_048_576L, 50_000L));
        assertThat(this.counts.byClass()).startsWith(50_000, 0, 0, 0, 0, 50_000, 0);
    }

}
