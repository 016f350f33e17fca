package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Limits the rate. */
class MoveRateTests {

    private final AtomicLong nanoTime = new AtomicLong(42);

    @Test
    void waitsForTheTimeThatTheBatchMayTake() {
        MoveRate rate = new MoveRate(500, 1_000, this.nanoTime::get);

        assertThat(rate.after(500)).isEqualTo(Duration.ofMillis(500));
        this.nanoTime.addAndGet(Duration.ofMillis(100).toNanos());
        assertThat(rate.after(500)).isEqualTo(Duration.ofMillis(900));
    }

    @Test
    void anIdleTimeIsMadeUpForBySecondAtMost() {
        MoveRate rate = new MoveRate(500, 1_000, this.nanoTime::get);
        this.nanoTime.addAndGet(Duration.ofHours(1).toNanos());

        assertThat(rate.after(1_000)).isEqualTo(Duration.ZERO);
        assertThat(rate.after(1_000)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void aBatchIsNotLargerThanTheRate() {
        assertThat(new MoveRate(500, 10, this.nanoTime::get).batch()).isEqualTo(10);
        assertThat(new MoveRate(500, 0, this.nanoTime::get).batch()).isEqualTo(500);
    }

    @Test
    void valuesThatAreNotValidAreRejectedWithTheRule() {
        assertThatIllegalArgumentException().isThrownBy(() -> new MoveRate(1_001, 0, this.nanoTime::get))
            .withMessage("--batch=1001 is not valid: use 1 to 1000");
        assertThatIllegalArgumentException().isThrownBy(() -> new MoveRate(500, -1, this.nanoTime::get))
            .withMessageContaining("--rate=-1 is not valid");
    }

}
