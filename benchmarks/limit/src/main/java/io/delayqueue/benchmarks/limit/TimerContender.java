package io.delayqueue.benchmarks.limit;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Wall;
import io.delayqueue.benchmarks.contender.Work;
import org.jspecify.annotations.Nullable;

/**
 * Handles messages by a timer thread of its own, without Redis: what the machine adds to
 * a due time. With the option {@code millis}, due times are rounded up to milliseconds,
 * as in every queue whose due times are milliseconds.
 */
final class TimerContender implements Contender {

    /** Guarded by itself. */
    private final PriorityQueue<Entry> entries = new PriorityQueue<>(Comparator.comparingLong(Entry::at));

    private @Nullable Consumer<Work> handler;

    private @Nullable Thread thread;

    private boolean millis;

    private volatile boolean stopped;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        this.handler = handler;
        this.millis = setup.options().containsKey("millis");
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        long at = this.millis ? (work.dueMicros() + 999) / 1000 * 1000 : work.dueMicros();
        boolean first;
        synchronized (this.entries) {
            Entry head = this.entries.peek();
            first = head == null || at < head.at();
            this.entries.add(new Entry(at, work));
        }
        if (first) {
            LockSupport.unpark(this.thread);
        }
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        works.forEach((work) -> send(queue, work, Duration.ZERO));
    }

    @Override
    public void startHandlers() {
        this.stopped = false;
        this.thread = new Thread(this::run, "timer");
        this.thread.start();
    }

    private void run() {
        Consumer<Work> consumer = this.handler;
        while (!this.stopped && consumer != null) {
            Entry due = null;
            long wait = TimeUnit.HOURS.toMicros(1);
            synchronized (this.entries) {
                Entry head = this.entries.peek();
                if (head != null) {
                    wait = head.at() - Wall.micros();
                    due = (wait <= 0) ? this.entries.remove() : null;
                }
            }
            if (due != null) {
                consumer.accept(due.work());
            }
            else {
                // Real time: until the next message is due.
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(wait));
            }
        }
    }

    @Override
    public void stopHandlers() {
        this.stopped = true;
        Thread running = this.thread;
        if (running != null) {
            LockSupport.unpark(running);
            try {
                running.join();
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public boolean isSettled() {
        return true;
    }

    @Override
    public void close() {
        stopHandlers();
    }

    private record Entry(long at, Work work) {
    }

}
