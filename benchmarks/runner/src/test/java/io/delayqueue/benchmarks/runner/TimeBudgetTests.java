package io.delayqueue.benchmarks.runner;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A run in pieces begins no part that does not fit, but always its first one. */
class TimeBudgetTests {

    private final AtomicLong nanos = new AtomicLong();

    private void pass(long seconds) {
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void aPartFitsIfItEndsInTime() {
        TimeBudget budget = new TimeBudget(TimeUnit.MINUTES.toNanos(1), this.nanos::get);

        assertThat(budget.fits(30)).isTrue();
        pass(30);
        assertThat(budget.fits(31)).isFalse();
        assertThat(budget.fits(30)).isTrue();
    }

    @Test
    void theFirstPartAlwaysFits() {
        TimeBudget budget = new TimeBudget(TimeUnit.MINUTES.toNanos(1), this.nanos::get);

        assertThat(budget.fits(1000)).isTrue();
        assertThat(budget.fits(61)).isFalse();
    }

}
