package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests P3: an alarm misses no ring, and runs one turn of a loop at a time. */
class AlarmTests {

    private final TestClock clock = new TestClock();

    private final ManualTimer timer = new ManualTimer(this.clock);

    private final Deque<Duration> waits = new ArrayDeque<>();

    private int turns;

    private Alarm alarm() {
        return new Alarm(() -> {
            this.turns++;
            return this.waits.poll();
        }, Runnable::run, this.timer, this.clock);
    }

    @Test
    void haveNoTurnTakenBeforeTheStart() {
        Alarm alarm = alarm();
        alarm.ring();
        assertThat(this.turns).isZero();
        alarm.start();
        assertThat(this.turns).isOne();
    }

    @Test
    void haveOneTurnTakenAtATimeAndAnotherForARingMeanwhile() {
        Alarm[] alarm = new Alarm[1];
        boolean[] inside = { false };
        alarm[0] = new Alarm(() -> {
            assertThat(inside[0]).isFalse();
            inside[0] = true;
            if (++this.turns == 1) {
                alarm[0].ring();
                alarm[0].ring();
            }
            inside[0] = false;
            return null;
        }, Runnable::run, this.timer, this.clock);
        alarm[0].start();
        assertThat(this.turns).isEqualTo(2);
    }

    @Test
    void missNoRingOfManyThreads() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        Alarm alarm = new Alarm(() -> {
            seen.set(asked.get());
            return null;
        }, Runnable::run, this.timer, this.clock);
        alarm.start();
        List<Thread> ringers = IntStream.range(0, 4).mapToObj((i) -> new Thread(() -> {
            for (int n = 0; n < 20_000; n++) {
                asked.incrementAndGet();
                alarm.ring();
            }
        })).toList();
        ringers.forEach(Thread::start);
        for (Thread ringer : ringers) {
            ringer.join(30_000);
        }
        TestBed.await(() -> seen.get() == 80_000);
    }

    @Test
    void ringWhenTheTimeOfTheLastTurnIsOver() {
        this.waits.add(Duration.ofMillis(30));
        alarm().start();
        this.timer.advance(Duration.ofMillis(29));
        assertThat(this.turns).isOne();
        this.timer.advance(Duration.ofMillis(1));
        assertThat(this.turns).isEqualTo(2);
    }

    @Test
    void takeAnotherTurnAtOnceIfOneIsOfUse() {
        this.waits.add(Duration.ZERO);
        alarm().start();
        assertThat(this.turns).isEqualTo(2);
    }

    @Test
    void ringAtTheEarlierOfTwoTimes() {
        this.waits.add(Duration.ofMillis(50));
        this.waits.add(Duration.ofMillis(20));
        Alarm alarm = alarm();
        alarm.start();
        alarm.ring();
        this.timer.advance(Duration.ofMillis(20));
        assertThat(this.turns).isEqualTo(3);
        assertThat(this.timer.isEmpty()).isTrue();
    }

    @Test
    void planAnewAfterATimeThatWasEarlierThanNeeded() {
        this.waits.add(Duration.ofMillis(20));
        this.waits.add(Duration.ofMillis(50));
        this.waits.add(Duration.ofMillis(30));
        Alarm alarm = alarm();
        alarm.start();
        alarm.ring();
        this.timer.advance(Duration.ofMillis(20));
        assertThat(this.turns).isEqualTo(3);
        this.timer.advance(Duration.ofMillis(30));
        assertThat(this.turns).isEqualTo(4);
    }

    @Test
    void goOnWithTheNextRingAfterATurnThatFailsOrHasNoThread() {
        try (LogCapture log = new LogCapture()) {
            boolean[] broken = { true };
            Alarm alarm = new Alarm(() -> {
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
            alarm.start();
            alarm.ring();
            assertThat(log.lines(Level.ERROR)).hasSize(1);
            assertThat(log.lines(Level.WARN)).hasSize(1);

            broken[0] = false;
            alarm.ring();
            assertThat(this.turns).isEqualTo(2);
        }
    }

    @Test
    void goOnAfterAFailureThatCannotBeTold() {
        Deque<Runnable> threads = new ArrayDeque<>();
        Alarm alarm = new Alarm(() -> {
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
        alarm.start();
        try {
            threads.remove().run();
        }
        catch (OutOfMemoryError ex) {
            // Ends the thread.
        }
        alarm.ring();
        threads.remove().run();
        assertThat(this.turns).isEqualTo(2);
    }

}
