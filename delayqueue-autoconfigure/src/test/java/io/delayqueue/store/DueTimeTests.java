package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.MessageLimits;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Rounding under P2: up, so that nothing becomes early by it. */
class DueTimeTests {

    @Test
    void aDelayIsRoundedUpToTheMillisecond() {
        assertThat(DueTime.after(Duration.ZERO)).isEqualTo(DueTime.NOW);
        assertThat(DueTime.after(Duration.ofNanos(1))).isEqualTo(new DueTime(1, true));
        assertThat(DueTime.after(Duration.ofMillis(7))).isEqualTo(new DueTime(7, true));
        assertThat(DueTime.after(Duration.ofMillis(7).plusNanos(999_999))).isEqualTo(new DueTime(8, true));
        assertThat(DueTime.after(MessageLimits.MAX_DURATION).millis()).isEqualTo(36_500L * 86_400_000);
    }

    @Test
    void aNegativeSpanIsRoundedUpAsWell() {
        assertThat(DueTime.ceilToMillis(Duration.ofNanos(-500_000))).isZero();
        assertThat(DueTime.ceilToMillis(Duration.ofNanos(-1_500_000))).isEqualTo(-1);
        assertThat(DueTime.ceilToMillis(Duration.ofMillis(-2))).isEqualTo(-2);
    }

    @Test
    void anInstantIsRoundedUpToTheMillisecond() {
        assertThat(DueTime.at(Instant.ofEpochMilli(7))).isEqualTo(new DueTime(7, false));
        assertThat(DueTime.at(Instant.ofEpochMilli(7).plusNanos(1))).isEqualTo(new DueTime(8, false));
        assertThat(DueTime.at(Instant.ofEpochMilli(7).plusNanos(999_999))).isEqualTo(new DueTime(8, false));
    }

    @Test
    void anyPastInstantIsAllowedHoweverLongAgo() {
        DueTime longAgo = new DueTime(0, false);

        assertThat(DueTime.at(Instant.EPOCH)).isEqualTo(longAgo);
        assertThat(DueTime.at(Instant.EPOCH.minusNanos(1))).isEqualTo(longAgo);
        assertThat(DueTime.at(Instant.MIN)).isEqualTo(longAgo);
    }

}
