package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P3: a scheduler misses no request, and runs one iteration of a loop at a time.
 */
class PollLoopSchedulerTests {

    private final ManualNanoClock clock = new ManualNanoClock();

    private final ManualTimer timer = new ManualTimer(this.clock);

    private final Deque<Duration> waits = new ArrayDeque<>();

    private int iterations;

    private PollLoopScheduler pollLoopScheduler() {
        return new PollLoopScheduler(() -> {
            this.iterations++;
            return this.waits.poll();
        }, Runnable::run, this.timer, this.clock);
    }

    @Test
    void runsNoIterationBeforeTheStart() {
        PollLoopScheduler scheduler = pollLoopScheduler();
        scheduler.requestIteration();
        assertThat(this.iterations).isZero();
        scheduler.start();
        assertThat(this.iterations).isOne();
    }

    @Test
    void runsOneIterationAtATimeAndAnotherForARequestMeanwhile() {
        PollLoopScheduler[] scheduler = new PollLoopScheduler[1];
        boolean[] inside = { false };
        scheduler[0] = new PollLoopScheduler(() -> {
            assertThat(inside[0]).isFalse();
            inside[0] = true;
            if (++this.iterations == 1) {
                scheduler[0].requestIteration();
                scheduler[0].requestIteration();
            }
            inside[0] = false;
            return null;
        }, Runnable::run, this.timer, this.clock);
        scheduler[0].start();
        assertThat(this.iterations).isEqualTo(2);
    }

    @Test
    void missesNoRequestOfManyThreads() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        PollLoopScheduler scheduler = new PollLoopScheduler(() -> {
            seen.set(asked.get());
            return null;
        }, Runnable::run, this.timer, this.clock);
        scheduler.start();
        List<Thread> ringers = IntStream.range(0, 4).mapToObj((i) -> new Thread(() -> {
            for (int n = 0; n < 20_000; n++) {
                asked.incrementAndGet();
                scheduler.requestIteration();
            }
        })).toList();
        ringers.forEach(Thread::start);
        for (Thread ringer : ringers) {
            ringer.join(30_000);
        }
        TestBed.await(() -> seen.get() == 80_000);
    }

    @Test
    void runsAnIterationWhenTheWaitOfTheLastOneIsOver() {
        this.waits.add(Duration.ofMillis(30));
        pollLoopScheduler().start();
        this.timer.advance(Duration.ofMillis(29));
        assertThat(this.iterations).isOne();
        this.timer.advance(Duration.ofMillis(1));
        assertThat(this.iterations).isEqualTo(2);
    }

    @Test
    void runsAnotherIterationAtOnceIfThereIsNoWait() {
        this.waits.add(Duration.ZERO);
        pollLoopScheduler().start();
        assertThat(this.iterations).isEqualTo(2);
    }

    @Test
    void runsAnIterationAtTheEarlierOfTwoTimes() {
        this.waits.add(Duration.ofMillis(50));
        this.waits.add(Duration.ofMillis(20));
        PollLoopScheduler scheduler = pollLoopScheduler();
        scheduler.start();
        scheduler.requestIteration();
        this.timer.advance(Duration.ofMillis(20));
        assertThat(this.iterations).isEqualTo(3);
        assertThat(this.timer.isEmpty()).isTrue();
    }

    @Test
    void plansAgainAfterATimeThatWasEarlierThanNeeded() {
        this.waits.add(Duration.ofMillis(20));
        this.waits.add(Duration.ofMillis(50));
        this.waits.add(Duration.ofMillis(30));
        PollLoopScheduler scheduler = pollLoopScheduler();
        scheduler.start();
        scheduler.requestIteration();
        this.timer.advance(Duration.ofMillis(20));
        assertThat(this.iterations).isEqualTo(3);
        this.timer.advance(Duration.ofMillis(30));
        assertThat(this.iterations).isEqualTo(4);
    }

    @Test
    void continuesWithTheNextRequestAfterAnIterationThatFailsOrHasNoThread() {
        try (LogCapture log = new LogCapture()) {
            boolean[] broken = { true };
            PollLoopScheduler scheduler = new PollLoopScheduler(() -> {
                this.iterations++;
                if (broken[0]) {
                    throw new IllegalStateException("a bug");
                }
                return null;
            }, (task) -> {
                if (this.iterations == 1 && broken[0]) {
                    throw new RejectedExecutionException("no thread");
                }
                task.run();
            }, this.timer, this.clock);
            scheduler.start();
            scheduler.requestIteration();
            assertThat(log.lines(Level.ERROR)).hasSize(1);
            assertThat(log.lines(Level.WARN)).hasSize(1);

            broken[0] = false;
            scheduler.requestIteration();
            assertThat(this.iterations).isEqualTo(2);
        }
    }

    @Test
    void continuesAfterAFailureThatCannotBeLogged() {
        Deque<Runnable> threads = new ArrayDeque<>();
        PollLoopScheduler scheduler = new PollLoopScheduler(() -> {
            if (++this.iterations == 1) {
                throw new IllegalStateException() {

                    private static final long serialVersionUID = 1L;

                    @Override
                    public String getMessage() {
                        throw new OutOfMemoryError("as where there is none left");
                    }

                };
            }
            return null;
        }, threads::add, this.timer, this.clock);
        scheduler.start();
        try {
            threads.remove().run();
        }
        catch (OutOfMemoryError ex) {
            // Ends the thread.
        }
        scheduler.requestIteration();
        threads.remove().run();
        assertThat(this.iterations).isEqualTo(2);
    }

    /** Tests the age of the last iteration, from which the health of a loop follows. */
    @Nested
    class Status {

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

}
