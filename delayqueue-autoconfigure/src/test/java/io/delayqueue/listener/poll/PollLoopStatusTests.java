package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.fixtures.ManualNanoClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that a loop without iterations is detected. */
class PollLoopStatusTests {

    private static final Duration POLL = Duration.ofSeconds(5);

    private final ManualNanoClock clock = new ManualNanoClock();

    private boolean failing;

    private final PollLoopScheduler scheduler = new PollLoopScheduler(this::iteration, Runnable::run,
            new ManualTimer(this.clock), this.clock);

    private Duration iteration() {
        if (this.failing) {
            throw new IllegalStateException("no iteration");
        }
        return POLL;
    }

    @Test
    void aLoopIsAliveForTwoSafetyPollsAndTheToleranceAfterItsLastIteration() {
        this.scheduler.start();
        assertThat(state().sinceLastIteration()).isZero();

        this.clock.advance(POLL.multipliedBy(2).plusSeconds(10));
        assertThat(state().isAlive()).isTrue();
        this.clock.advance(Duration.ofNanos(1));
        assertThat(state().isAlive()).isFalse();

        this.scheduler.requestIteration();
        assertThat(state().isAlive()).isTrue();
    }

    @Test
    void aFailedIterationDoesNotCount() {
        this.scheduler.start();
        this.failing = true;
        this.clock.advance(Duration.ofMinutes(1));
        this.scheduler.requestIteration();

        assertThat(state().isAlive()).isFalse();
    }

    private PollLoopStatus state() {
        return new PollLoopStatus(TestBed.QUEUE, this.scheduler.sinceLastIteration(), POLL, true, 0);
    }

}
