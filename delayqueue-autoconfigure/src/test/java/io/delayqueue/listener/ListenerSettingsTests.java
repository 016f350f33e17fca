package io.delayqueue.listener;

import java.time.Duration;
import java.util.Set;

import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.store.ExpiryPolicy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Tests which settings of listeners are rejected. */
class ListenerSettingsTests {

    private ListenerSettings settings(int concurrency, Duration lease, Duration timeout, int attempts, int lapses) {
        return new ListenerSettings(concurrency, lease, timeout, attempts, lapses, TestBed.settings().backoff(),
                ExpiryPolicy.DROP, true, Set.of());
    }

    @Test
    void refusesInvalidValues() {
        Duration minute = Duration.ofMinutes(1);
        assertThatIllegalArgumentException().isThrownBy(() -> settings(0, minute, null, 1, 1))
            .withMessage("concurrency must be 1 to 10000, but was 0");
        assertThatIllegalArgumentException().isThrownBy(() -> settings(10_001, minute, null, 1, 1))
            .withMessage("concurrency must be 1 to 10000, but was 10001");
        assertThatIllegalArgumentException().isThrownBy(() -> settings(1, Duration.ofMillis(999), null, 1, 1))
            .withMessage("lease must be at least 1s and at most 36500 days, but was 999 ms");
        assertThatIllegalArgumentException().isThrownBy(() -> settings(1, minute, Duration.ZERO, 1, 1))
            .withMessage("timeout must be more than zero and at most 36500 days, but was 0 s");
        assertThatIllegalArgumentException().isThrownBy(() -> settings(1, minute, null, 0, 1))
            .withMessage("maxAttempts must be at least 1, but was 0");
        assertThatIllegalArgumentException().isThrownBy(() -> settings(1, minute, null, 1, 0))
            .withMessage("maxLapses must be at least 1, but was 0");
    }

    @Test
    void refusesASafetyPollThatWouldSpin() {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new SharedListenerSettings(Duration.ZERO, Duration.ofMillis(1), null, false,
                    HandlerExecution.DEFAULT))
            .withMessageStartingWith("safetyPoll must be at least 10ms");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> new SharedListenerSettings(Duration.ofSeconds(-1), Duration.ofSeconds(5), null, false,
                    HandlerExecution.DEFAULT))
            .withMessageStartingWith("shutdownTimeout must be zero to");
    }

}
