package io.delayqueue.engine;

import java.time.Duration;

import io.delayqueue.QueueName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What expires is reported at once, and then once a minute. */
class ExpiredSummaryTests {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final ExpiredSummary summary = new ExpiredSummary();

    @ParameterizedTest
    @ValueSource(longs = { 0, Long.MAX_VALUE - 10, Long.MIN_VALUE })
    void reportsAtOnceAndThenOnceAMinute(long start) {
        assertThat(this.summary.take(start)).isZero();
        this.summary.add(3);
        assertThat(this.summary.take(start)).isEqualTo(3);
        assertThat(this.summary.take(start)).isZero();
        this.summary.add(2);
        this.summary.add(4);
        assertThat(this.summary.take(start + MINUTE - 1)).isZero();
        assertThat(this.summary.take(start + MINUTE)).isEqualTo(6);
        assertThat(this.summary.take(start + 5 * MINUTE)).isZero();
        this.summary.add(1);
        assertThat(this.summary.take(start + 5 * MINUTE)).isOne();
    }

    @Test
    void keepsNothingBackAtTheEnd() {
        this.summary.add(1);
        this.summary.take(0);
        this.summary.add(5);

        assertThat(this.summary.takeAll()).isEqualTo(5);
        assertThat(this.summary.takeAll()).isZero();
    }

    @Test
    void saysWhatBecameOfThem() {
        QueueName queue = new QueueName("orders");
        assertThat(ExpiredSummary.text(1, queue, ExpiredPolicy.DROP))
            .startsWith("Expired and dropped: 1 message of queue 'orders'");
        assertThat(ExpiredSummary.text(20, queue, ExpiredPolicy.DEAD_LETTER))
            .startsWith("Expired and made dead letters: 20 messages of queue 'orders'");
    }

}
