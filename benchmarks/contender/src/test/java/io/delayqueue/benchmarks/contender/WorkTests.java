package io.delayqueue.benchmarks.contender;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Payloads are as large as they say, and read as they were written. */
class WorkTests {

    @ParameterizedTest
    @ValueSource(longs = { 0, 7, 123_456, -1, -9_999_999 })
    void hasTheSizeThatWasAskedFor(long number) {
        Work work = Work.of(number, 1_763_750_000_000_000L, 100);

        assertThat(work.toJson()).hasSize(100);
        assertThat(Work.fromJson(work.toJson())).isEqualTo(work);
    }

}
