package io.delayqueue.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.listener.poll.Nanos;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds what listeners have planned, in virtual time: tasks that run when time has
 * reached them, on the thread that moved it, and threads that pause until then.
 * <p>
 * A task that was planned for a moment makes time stop there. Upkeep and periodic tasks,
 * such as safety polls and the removal of old dead letters, do not: each runs once at the
 * next stop, however much time has passed. While messages are in flight, periodic tasks
 * make time stop too, as one of them renews leases.
 * <p>
 * <strong>Threads.</strong> Any thread plans; one thread at a time runs what is due.
 */
final class VirtualTimers {

    private static final Logger logger = LoggerFactory.getLogger(VirtualTimers.class);

    /** No time of a test is as far from another. */
    private static final long END_OF_TIME = Nanos.of(Duration.ofDays(200 * 365));

    private final VirtualTime time;

    /** Guarded by this object. */
    private final PriorityQueue<Task> tasks = new PriorityQueue<>(
            Comparator.<Task>comparingLong((task) -> task.at).thenComparingLong((task) -> task.number));

    private final Set<Pause> pauses = ConcurrentHashMap.newKeySet();

    private long count;

    VirtualTimers(VirtualTime time) {
        this.time = time;
    }

    /** Creates the timer of one run of listeners. */
    LoopTimer create() {
        return new Timer();
    }

    /**
     * Returns the earliest millisecond at which time must stop; {@code Long.MAX_VALUE} if
     * there is none.
     * @param inFlight whether messages are in flight
     */
    synchronized long nextStop(boolean inFlight) {
        long next = this.pauses.stream().mapToLong((pause) -> pause.until).min().orElse(Long.MAX_VALUE);
        for (Task task : this.tasks) {
            if (task.kind == Kind.PLANNED || (inFlight && task.kind == Kind.PERIODIC)) {
                next = Math.min(next, task.at);
            }
        }
        return (next == Long.MAX_VALUE) ? next : this.time.millisOf(next);
    }

    /**
     * Runs all tasks whose time has come, and ends the pauses that are over.
     * @return whether there was any
     */
    boolean runDue() {
        long now = this.time.nanoTime();
        List<Task> due = takeDue(now);
        due.forEach(Task::run);
        boolean ended = false;
        for (Pause pause : this.pauses) {
            if (pause.until - now <= 0) {
                end(pause);
                ended = true;
            }
        }
        return ended || !due.isEmpty();
    }

    private synchronized List<Task> takeDue(long now) {
        List<Task> due = new ArrayList<>();
        for (Task next = this.tasks.peek(); next != null && next.at - now <= 0; next = this.tasks.peek()) {
            due.add(this.tasks.remove());
        }
        for (Task task : due) {
            if (task.period != null) {
                task.at = now + Nanos.of(task.period);
                this.tasks.add(task);
            }
        }
        return due;
    }

    /** Returns whether the thread pauses until time is moved. */
    boolean isPaused(@Nullable Thread thread) {
        return thread != null && this.pauses.stream().anyMatch((pause) -> pause.thread == thread);
    }

    /** Returns how many threads pause. */
    int paused() {
        return this.pauses.size();
    }

    private void end(Pause pause) {
        // First, so that this thread no longer counts as paused when it continues.
        this.pauses.remove(pause);
        synchronized (pause) {
            pause.over = true;
            pause.notifyAll();
        }
    }

    private enum Kind {

        PLANNED, UPKEEP, PERIODIC

    }

    private final class Timer implements LoopTimer {

        private volatile boolean closed;

        /**
         * At the end of a run all deadlines are over, as a stop has a real time limit.
         */
        @Override
        public long nanoTime() {
            return VirtualTimers.this.time.nanoTime() + (this.closed ? END_OF_TIME : 0);
        }

        @Override
        public Runnable after(Duration delay, Runnable task) {
            return add(Kind.PLANNED, delay, null, task);
        }

        @Override
        public Runnable upkeep(Duration delay, Runnable task) {
            return add(Kind.UPKEEP, delay, null, task);
        }

        @Override
        public Runnable every(Duration period, Runnable task) {
            return add(Kind.PERIODIC, period, period, task);
        }

        private Runnable add(Kind kind, Duration delay, @Nullable Duration period, Runnable work) {
            VirtualTimers timers = VirtualTimers.this;
            synchronized (timers) {
                if (this.closed) {
                    return () -> {
                    };
                }
                Task task = new Task(this, kind, timers.time.nanoTime() + Nanos.of(delay), period, work);
                task.number = timers.count++;
                timers.tasks.add(task);
                return () -> cancel(task);
            }
        }

        private void cancel(Task task) {
            synchronized (VirtualTimers.this) {
                VirtualTimers.this.tasks.remove(task);
            }
        }

        @Override
        public void pause(Duration duration) {
            long now = VirtualTimers.this.time.nanoTime();
            Pause pause = new Pause(this, now + Nanos.of(duration));
            if (pause.until - now <= 0 || this.closed) {
                return;
            }
            VirtualTimers.this.pauses.add(pause);
            try {
                pause.await();
            }
            finally {
                VirtualTimers.this.pauses.remove(pause);
            }
        }

        /** Without jitter, so that times are exact. */
        @Override
        public double random() {
            return 0.5;
        }

        /**
         * Lets the loops end that wait for their handlers, and the threads that pause.
         */
        @Override
        public void close() {
            List<Task> last;
            synchronized (VirtualTimers.this) {
                this.closed = true;
                last = VirtualTimers.this.tasks.stream()
                    .filter((task) -> task.timer == this)
                    .sorted(VirtualTimers.this.tasks.comparator())
                    .toList();
                VirtualTimers.this.tasks.removeAll(last);
            }
            last.stream().filter((task) -> task.kind == Kind.PLANNED).forEach(Task::run);
            VirtualTimers.this.pauses.stream().filter((pause) -> pause.timer == this).forEach(VirtualTimers.this::end);
        }

    }

    /** Holds a planned task; fields are guarded by the timers. */
    private static final class Task {

        private final Timer timer;

        private final Kind kind;

        private final @Nullable Duration period;

        private final Runnable work;

        private long at;

        private long number;

        Task(Timer timer, Kind kind, long at, @Nullable Duration period, Runnable work) {
            this.timer = timer;
            this.kind = kind;
            this.at = at;
            this.period = period;
            this.work = work;
        }

        void run() {
            try {
                this.work.run();
            }
            catch (Throwable ex) {
                logger.error("A task of the timer failed; the next ones run as planned", ex);
            }
        }

    }

    /** Holds a thread that waits for time to move; its lock guards {@code over}. */
    private static final class Pause {

        private final Thread thread = Thread.currentThread();

        private final Timer timer;

        private final long until;

        private boolean over;

        Pause(Timer timer, long until) {
            this.timer = timer;
            this.until = until;
        }

        synchronized void await() {
            try {
                while (!this.over) {
                    wait();
                }
            }
            catch (InterruptedException ex) {
                this.thread.interrupt();
            }
        }

    }

}
