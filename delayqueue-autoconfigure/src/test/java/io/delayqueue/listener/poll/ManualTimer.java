package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.fixtures.ManualNanoClock;

/** Runs due tasks when its clock is moved, on the thread that moves it. */
public final class ManualTimer implements LoopTimer {

    private final ManualNanoClock clock;

    private final List<Task> tasks = new ArrayList<>();

    final List<Duration> pauses = new ArrayList<>();

    public ManualTimer(ManualNanoClock clock) {
        this.clock = clock;
    }

    @Override
    public long nanoTime() {
        return this.clock.getAsLong();
    }

    @Override
    public Runnable after(Duration delay, Runnable task) {
        return add(new Task(this.clock.getAsLong() + Nanos.of(delay), null, task));
    }

    @Override
    public Runnable every(Duration period, Runnable task) {
        add(new Task(this.clock.getAsLong() + Nanos.of(period), period, task));
        return () -> this.tasks.removeIf((each) -> each.work() == task);
    }

    @Override
    public void pause(Duration duration) {
        this.pauses.add(duration);
        this.clock.advance(duration);
    }

    private Runnable add(Task task) {
        this.tasks.add(task);
        return () -> this.tasks.remove(task);
    }

    public boolean isEmpty() {
        return this.tasks.isEmpty();
    }

    /** Moves the clock in small steps, and runs the tasks that become due. */
    public void advance(Duration duration) {
        long left = duration.toNanos();
        while (left > 0) {
            long step = Math.min(left, 10_000_000);
            this.clock.advance(Duration.ofNanos(step));
            left -= step;
            runDue();
        }
    }

    public void runDue() {
        for (Task task : List.copyOf(this.tasks)) {
            if (task.at() - this.clock.getAsLong() <= 0 && this.tasks.remove(task)) {
                if (task.period() != null) {
                    add(new Task(task.at() + task.period().toNanos(), task.period(), task.work()));
                }
                task.work().run();
            }
        }
    }

    private record Task(long at, Duration period, Runnable work) {

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }

    }

}
