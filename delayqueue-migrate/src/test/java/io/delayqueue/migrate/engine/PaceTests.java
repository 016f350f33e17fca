package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Limits the rate. */
class PaceTests {

    private final AtomicLong nanoTime = new AtomicLong(42);

    @Test
    void waitsForTheTimeThatTheBatchMayTake() {
        Pace pace = new Pace(500, 1_000, this.nanoTime::get);

        assertThat(pace.after(500)).isEqualTo(Duration.ofMillis(500));
        this.nanoTime.addAndGet(Duration.ofMillis(100).toNanos());
        assertThat(pace.after(500)).isEqualTo(Duration.ofMillis(900));
    }

    @Test
    void anIdleTimeIsMadeUpForBySecondAtMost() {
        Pace pace = new Pace(500, 1_000, this.nanoTime::get);
        this.nanoTime.addAndGet(Duration.ofHours(1).toNanos());

        assertThat(pace.after(1_000)).isEqualTo(Duration.ZERO);
        assertThat(pace.after(1_000)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void aBatchIsNotLargerThanTheRate() {
        assertThat(new Pace(500, 10, this.nanoTime::get).batch()).isEqualTo(10);
        assertThat(new Pace(500, 0, this.nanoTime::get).batch()).isEqualTo(500);
    }

    @Test
    void valuesThatAreNotValidAreRejectedWithTheRule() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Pace(1_001, 0, this.nanoTime::get))
            .withMessage("--batch=1001 is not valid: use 1 to 1000");
        assertThatIllegalArgumentException().isThrownBy(() -> new Pace(500, -1, this.nanoTime::get))
            .withMessageContaining("--rate=-1 is not valid");
    }

}
