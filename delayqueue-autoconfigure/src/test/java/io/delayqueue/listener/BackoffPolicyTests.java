package io.delayqueue.listener;

import java.time.Duration;
import java.util.List;

import io.delayqueue.listener.poll.BackoffPolicy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Tests the waits between attempts. */
class BackoffPolicyTests {

    private final BackoffPolicy policy = new BackoffPolicy(Duration.ofSeconds(1), 2, Duration.ofSeconds(10), 0);

    @Test
    void waitsLongerAfterEachFailureUpToALimit() {
        assertThat(List.of(1, 2, 3, 4, 5, 1000, Integer.MAX_VALUE))
            .extracting((failures) -> this.policy.delayAfter(failures, () -> 0.5).toSeconds())
            .containsExactly(1L, 2L, 4L, 8L, 10L, 10L, 10L);
    }

    @Test
    void addsAShareByChance() {
        BackoffPolicy jittered = new BackoffPolicy(Duration.ofSeconds(10), 1, Duration.ofSeconds(10), 0.3);
        assertThat(jittered.delayAfter(1, () -> 0)).isEqualTo(Duration.ofSeconds(7));
        assertThat(jittered.delayAfter(1, () -> 0.5)).isEqualTo(Duration.ofSeconds(10));
        assertThat(jittered.delayAfter(1, () -> 1)).isEqualTo(Duration.ofSeconds(13));
    }

    @Test
    void staysWithinTheLimitsOfTheStore() {
        BackoffPolicy longest = new BackoffPolicy(Duration.ofDays(36_500), Double.MAX_VALUE, Duration.ofDays(36_500),
                1);
        assertThat(longest.delayAfter(Integer.MAX_VALUE, () -> 1)).isEqualTo(Duration.ofDays(36_500));
        assertThat(longest.delayAfter(Integer.MAX_VALUE, () -> 0)).isZero();
        BackoffPolicy none = new BackoffPolicy(Duration.ZERO, Double.MAX_VALUE, Duration.ZERO, 1);
        assertThat(none.delayAfter(1000, () -> 1)).isZero();
    }

    @Test
    void refusesInvalidValues() {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new BackoffPolicy(Duration.ofSeconds(-1), 1, Duration.ZERO, 0))
            .withMessage("backoff.initial must be zero to 36500 days, but was -1 s");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new BackoffPolicy(Duration.ofSeconds(1), 0.5, Duration.ofSeconds(1), 0))
            .withMessage("backoff.multiplier must be at least 1, but was 0.5");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new BackoffPolicy(Duration.ofSeconds(2), 1, Duration.ofSeconds(1), 0))
            .withMessageStartingWith("backoff.max must be at least backoff.initial (2 s)");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new BackoffPolicy(Duration.ofSeconds(1), 1, Duration.ofSeconds(1), Double.NaN))
            .withMessage("backoff.jitter must be 0 to 1, but was NaN");
    }

}
