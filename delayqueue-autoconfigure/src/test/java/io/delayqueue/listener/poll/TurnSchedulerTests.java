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
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests P3: an alarm misses no ring, and runs one turn of a loop at a time. */
class TurnSchedulerTests {

    private final ManualNanoClock clock = new ManualNanoClock();

    private final ManualTimer timer = new ManualTimer(this.clock);

    private final Deque<Duration> waits = new ArrayDeque<>();

    private int turns;

    private TurnScheduler turnScheduler() {
        return new TurnScheduler(() -> {
            this.turns++;
            return this.waits.poll();
        }, Runnable::run, this.timer, this.clock);
    }

    @Test
    void runsNoTurnBeforeTheStart() {
        TurnScheduler scheduler = turnScheduler();
        scheduler.requestTurn();
        assertThat(this.turns).isZero();
        scheduler.start();
        assertThat(this.turns).isOne();
    }

    @Test
    void runsOneTurnAtATimeAndAnotherForARequestMeanwhile() {
        TurnScheduler[] scheduler = new TurnScheduler[1];
        boolean[] inside = { false };
        scheduler[0] = new TurnScheduler(() -> {
            assertThat(inside[0]).isFalse();
            inside[0] = true;
            if (++this.turns == 1) {
                scheduler[0].requestTurn();
                scheduler[0].requestTurn();
            }
            inside[0] = false;
            return null;
        }, Runnable::run, this.timer, this.clock);
        scheduler[0].start();
        assertThat(this.turns).isEqualTo(2);
    }

    @Test
    void missesNoRequestOfManyThreads() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        TurnScheduler scheduler = new TurnScheduler(() -> {
            seen.set(asked.get());
            return null;
        }, Runnable::run, this.timer, this.clock);
        scheduler.start();
        List<Thread> ringers = IntStream.range(0, 4).mapToObj((i) -> new Thread(() -> {
            for (int n = 0; n < 20_000; n++) {
                asked.incrementAndGet();
                scheduler.requestTurn();
            }
        })).toList();
        ringers.forEach(Thread::start);
        for (Thread ringer : ringers) {
            ringer.join(30_000);
        }
        TestBed.await(() -> seen.get() == 80_000);
    }

    @Test
    void runsATurnWhenTheWaitOfTheLastOneIsOver() {
        this.waits.add(Duration.ofMillis(30));
        turnScheduler().start();
        this.timer.advance(Duration.ofMillis(29));
        assertThat(this.turns).isOne();
        this.timer.advance(Duration.ofMillis(1));
        assertThat(this.turns).isEqualTo(2);
    }

    @Test
    void runsAnotherTurnAtOnceIfThereIsNoWait() {
        this.waits.add(Duration.ZERO);
        turnScheduler().start();
        assertThat(this.turns).isEqualTo(2);
    }

    @Test
    void runsATurnAtTheEarlierOfTwoTimes() {
        this.waits.add(Duration.ofMillis(50));
        this.waits.add(Duration.ofMillis(20));
        TurnScheduler scheduler = turnScheduler();
        scheduler.start();
        scheduler.requestTurn();
        this.timer.advance(Duration.ofMillis(20));
        assertThat(this.turns).isEqualTo(3);
        assertThat(this.timer.isEmpty()).isTrue();
    }

    @Test
    void plansAgainAfterATimeThatWasEarlierThanNeeded() {
        this.waits.add(Duration.ofMillis(20));
        this.waits.add(Duration.ofMillis(50));
        this.waits.add(Duration.ofMillis(30));
        TurnScheduler scheduler = turnScheduler();
        scheduler.start();
        scheduler.requestTurn();
        this.timer.advance(Duration.ofMillis(20));
        assertThat(this.turns).isEqualTo(3);
        this.timer.advance(Duration.ofMillis(30));
        assertThat(this.turns).isEqualTo(4);
    }

    @Test
    void continuesWithTheNextRequestAfterATurnThatFailsOrHasNoThread() {
        try (LogCapture log = new LogCapture()) {
            boolean[] broken = { true };
            TurnScheduler scheduler = new TurnScheduler(() -> {
                this.turns++;
                if (broken[0]) {
                    throw new IllegalStateException("a bug");
                }
                return null;
            }, (task) -> {
                if (this.turns == 1 && broken[0]) {
                    throw new RejectedExecutionException("no thread");
                }
                task.run();
            }, this.timer, this.clock);
            scheduler.start();
            scheduler.requestTurn();
            assertThat(log.lines(Level.ERROR)).hasSize(1);
            assertThat(log.lines(Level.WARN)).hasSize(1);

            broken[0] = false;
            scheduler.requestTurn();
            assertThat(this.turns).isEqualTo(2);
        }
    }

    @Test
    void continuesAfterAFailureThatCannotBeLogged() {
        Deque<Runnable> threads = new ArrayDeque<>();
        TurnScheduler scheduler = new TurnScheduler(() -> {
            if (++this.turns == 1) {
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
        scheduler.requestTurn();
        threads.remove().run();
        assertThat(this.turns).isEqualTo(2);
    }

}
