package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;

import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** P3: each published form is parsed, and any other message is a signal to poll. */
class PartitionListenersTests {

    @Test
    void aMessageWithADelayIsParsed() {
        assertThat(signal("+1500042:1790000000123"))
            .isEqualTo(WakeUpSignal.dueIn(Duration.ofNanos(1_500_042_000), Instant.ofEpochMilli(1_790_000_000_123L)));
        assertThat(signal("+0:0")).isEqualTo(WakeUpSignal.dueIn(Duration.ZERO, Instant.EPOCH));
    }

    @Test
    void aMessageOfThePrimaryPollerIsParsed() {
        assertThat(signal("k1500:3:abc1"))
            .isEqualTo(WakeUpSignal.primaryPolled(Duration.ofMillis(1500), new WakeUpSignal.PrimaryPoller("abc1", 3)));
        assertThat(signal("k:1:z")).isEqualTo(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("z", 1)));
        assertThat(signal("v")).isEqualTo(WakeUpSignal.NO_PRIMARY);
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "!", "+", "+x:1", "+-1:1", "+1", "+1:", "1790000000000", "+99999999999999999999999:1",
            "anything", "k", "k1:2", "k1::a", "kx:1:a", "vv" })
    void anyOtherMessageIsASignalToPoll(String body) {
        assertThat(signal(body)).isEqualTo(WakeUpSignal.POLL_NOW);
    }

    private static WakeUpSignal signal(String body) {
        return PartitionListeners.signalOf(body.getBytes(StandardCharsets.UTF_8));
    }

}
