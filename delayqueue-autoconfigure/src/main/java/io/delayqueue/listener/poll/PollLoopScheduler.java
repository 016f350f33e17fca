package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the iterations of a loop one at a time: on request, and after the delay that the
 * last iteration has returned. A request during an iteration causes another iteration, so
 * no event is missed.
 * <p>
 * <strong>Threads.</strong> Any thread requests iterations. An iteration runs on a thread
 * of the executor, which may be the requesting thread or the timer's, so it must not
 * block. Each iteration sees the writes of the iteration before.
 */
final class PollLoopScheduler {

    private static final Logger logger = LoggerFactory.getLogger(PollLoopScheduler.class);

    /**
     * The schedulers whose iterations wait for the iteration that runs on this thread.
     */
    private static final ThreadLocal<@Nullable Queue<PollLoopScheduler>> WAITING_ON_THREAD = new ThreadLocal<>();

    private final Supplier<@Nullable Duration> iteration;

    private final Executor threads;

    private final LoopTimer timer;

    private final LongSupplier nanoTime;

    /**
     * Counts the requests since the last iteration began, plus one for that iteration.
     * Above zero, an iteration is running or scheduled; the initial value stands for the
     * first iteration.
     */
    private final AtomicInteger requests = new AtomicInteger(1);

    /** Cancels the next planned iteration; only iterations use these two fields. */
    private @Nullable Runnable planned;

    private long plannedAt;

    private volatile long succeededAt;

    /**
     * Creates a scheduler, which runs no iteration before {@link #start()}.
     * @param iteration returns how long to wait until the next iteration, unless one is
     * requested; {@code null} to wait without limit
     */
    PollLoopScheduler(Supplier<@Nullable Duration> iteration, Executor threads, LoopTimer timer,
            LongSupplier nanoTime) {
        this.iteration = iteration;
        this.threads = threads;
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.succeededAt = nanoTime.getAsLong();
    }

    /** Returns the time since an iteration last succeeded. */
    Duration sinceLastIteration() {
        return Duration.ofNanos(Math.max(0, this.nanoTime.getAsLong() - this.succeededAt));
    }

    /**
     * Returns whether no iteration is running or requested; if so, the caller sees the
     * writes of the last iteration.
     */
    boolean isIdle() {
        return this.requests.get() == 0;
    }

    /** Requests the first iteration. */
    void start() {
        submitIterations();
    }

    private void submitIterations() {
        try {
            this.threads.execute(this::runIterations);
        }
        catch (Throwable ex) {
            this.requests.set(0);
            logger.warn(
                    "No thread for a poll loop; it continues on the next wake-up, or after the safety poll at the latest",
                    ex);
        }
    }

    /** Requests an iteration that begins after this call. */
    void requestIteration() {
        if (this.requests.getAndIncrement() == 0) {
            submitIterations();
        }
    }

    /**
     * Runs iterations until none was requested during one; after each iteration,
     * schedulers that were requested on this thread get theirs. Iterations are therefore
     * never nested, and the messages that an iteration claimed are dispatched before
     * another iteration begins.
     */
    private void runIterations() {
        Queue<PollLoopScheduler> others = WAITING_ON_THREAD.get();
        if (others != null) {
            others.add(this);
            return;
        }
        Queue<PollLoopScheduler> next = new ArrayDeque<>(List.of(this));
        WAITING_ON_THREAD.set(next);
        try {
            while (!next.isEmpty()) {
                PollLoopScheduler scheduler = next.remove();
                if (scheduler.runIteration()) {
                    next.add(scheduler);
                }
            }
        }
        finally {
            WAITING_ON_THREAD.remove();
        }
    }

    /** Runs one iteration and returns whether another one must follow. */
    private boolean runIteration() {
        this.requests.set(1);
        try {
            plan(this.iteration.get());
            this.succeededAt = this.nanoTime.getAsLong();
        }
        catch (Throwable ex) {
            logFailure(ex);
        }
        return !this.requests.compareAndSet(1, 0);
    }

    /**
     * Logs a failed iteration. Must not throw, as that would end the loop permanently; if
     * memory is exhausted, logging fails as well.
     */
    private static void logFailure(Throwable failure) {
        try {
            logger.error("Poll loop failed; it continues on the next wake-up, or after the safety poll at the latest",
                    failure);
        }
        catch (Throwable ex) {
            // The next iteration may succeed.
        }
    }

    private void plan(@Nullable Duration wait) {
        if (wait == null) {
            return;
        }
        if (wait.isZero()) {
            this.requests.incrementAndGet();
            return;
        }
        long now = this.nanoTime.getAsLong();
        long at = now + Nanos.of(wait);
        Runnable before = this.planned;
        if (before != null && this.plannedAt - now > 0) {
            if (this.plannedAt - at <= 0) {
                return;
            }
            before.run();
        }
        this.plannedAt = at;
        this.planned = this.timer.after(wait, this::requestIteration);
    }

}
