package io.delayqueue.template;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.delayqueue.consume.PollerExecutor;

/**
 * Runs the tasks of one call of {@code receive} on the thread of its caller, which waits
 * for them.
 * <p>
 * <strong>Threads.</strong> Any may add tasks; the lock orders that with the end.
 */
final class CallerThreadExecutor implements PollerExecutor {

    private final LongSupplier nanoTime;

    private final DelayQueue<Task> tasks = new DelayQueue<>();

    private final AtomicLong count = new AtomicLong();

    private boolean ended;

    CallerThreadExecutor(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Runs tasks until the result is there. */
    void runUntilDone(Future<?> result) throws InterruptedException {
        while (!result.isDone()) {
            this.tasks.take().task.run();
        }
    }

    /** Runs the tasks that are due, and then takes no more. */
    void end() {
        synchronized (this) {
            this.ended = true;
        }
        for (Task task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
            task.task.run();
        }
    }

    @Override
    public boolean execute(Runnable task) {
        return add(new Task(task, this.nanoTime.getAsLong(), true));
    }

    @Override
    public boolean read(Runnable task) {
        return execute(task);
    }

    @Override
    public Runnable schedule(Runnable task, long nanos) {
        Task later = new Task(task, this.nanoTime.getAsLong() + nanos, false);
        add(later);
        return () -> this.tasks.remove(later);
    }

    private synchronized boolean add(Task task) {
        return !this.ended && this.tasks.add(task);
    }

    private final class Task implements Delayed {

        private final Runnable task;

        private final long at;

        /** Precedes timers, so that an answer that is there counts as in time. */
        private final boolean immediate;

        private final long number = CallerThreadExecutor.this.count.incrementAndGet();

        Task(Runnable task, long at, boolean immediate) {
            this.task = task;
            this.at = at;
            this.immediate = immediate;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(this.at - CallerThreadExecutor.this.nanoTime.getAsLong(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            Task task = (Task) other;
            if (this.immediate != task.immediate) {
                return this.immediate ? -1 : 1;
            }
            return (this.immediate || this.at == task.at) ? Long.compare(this.number, task.number)
                    : Long.compare(this.at - task.at, 0);
        }

    }

}
