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
 * Runs the turns of a loop, one at a time: when a turn is requested, and when the wait
 * that the last turn returned is over. A request during a turn causes another turn, so no
 * event is missed.
 * <p>
 * <strong>Threads.</strong> Any thread requests turns. A turn runs on a thread of the
 * executor, which may be the requesting thread or the timer's, so it must not block. Each
 * turn sees the writes of the turn before.
 */
final class TurnScheduler {

    private static final Logger logger = LoggerFactory.getLogger(TurnScheduler.class);

    /** The schedulers whose turns wait for the turn that runs on this thread. */
    private static final ThreadLocal<@Nullable Queue<TurnScheduler>> WAITING_ON_THREAD = new ThreadLocal<>();

    private final Supplier<@Nullable Duration> turn;

    private final Executor threads;

    private final LoopTimer timer;

    private final LongSupplier nanoTime;

    /**
     * Counts the requests since the last turn began, plus one for that turn. Above zero,
     * a turn is running or scheduled; the initial value stands for the first turn.
     */
    private final AtomicInteger requests = new AtomicInteger(1);

    /** Cancels the next planned turn; only turns use these two fields. */
    private @Nullable Runnable planned;

    private long plannedAt;

    private volatile long turnedAt;

    /**
     * Creates a scheduler, which runs no turn before {@link #start()}.
     * @param turn returns how long to wait until the next turn, unless one is requested;
     * {@code null} to wait without limit
     */
    TurnScheduler(Supplier<@Nullable Duration> turn, Executor threads, LoopTimer timer, LongSupplier nanoTime) {
        this.turn = turn;
        this.threads = threads;
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.turnedAt = nanoTime.getAsLong();
    }

    /** Returns the time since a turn last succeeded. */
    Duration sinceLastTurn() {
        return Duration.ofNanos(Math.max(0, this.nanoTime.getAsLong() - this.turnedAt));
    }

    /** Requests the first turn. */
    void start() {
        takeTurnsOnAThread();
    }

    private void takeTurnsOnAThread() {
        try {
            this.threads.execute(this::takeTurns);
        }
        catch (Throwable ex) {
            this.requests.set(0);
            logger.warn(
                    "No thread for a poll loop; it continues on the next wake-up, or after the safety poll at the latest",
                    ex);
        }
    }

    /** Requests a turn that begins after this call. */
    void requestTurn() {
        if (this.requests.getAndIncrement() == 0) {
            takeTurnsOnAThread();
        }
    }

    /**
     * Runs turns until none was requested during one; after each turn, schedulers that
     * were requested on this thread get theirs. Turns are therefore never nested, and the
     * messages that a turn claimed are dispatched before another turn begins.
     */
    private void takeTurns() {
        Queue<TurnScheduler> others = WAITING_ON_THREAD.get();
        if (others != null) {
            others.add(this);
            return;
        }
        Queue<TurnScheduler> next = new ArrayDeque<>(List.of(this));
        WAITING_ON_THREAD.set(next);
        try {
            while (!next.isEmpty()) {
                TurnScheduler scheduler = next.remove();
                if (scheduler.takeTurn()) {
                    next.add(scheduler);
                }
            }
        }
        finally {
            WAITING_ON_THREAD.remove();
        }
    }

    /** Runs one turn and returns whether another one must follow. */
    private boolean takeTurn() {
        this.requests.set(1);
        try {
            plan(this.turn.get());
            this.turnedAt = this.nanoTime.getAsLong();
        }
        catch (Throwable ex) {
            logFailure(ex);
        }
        return !this.requests.compareAndSet(1, 0);
    }

    /**
     * Logs a failed turn. Must not throw, as that would end the loop permanently; if
     * memory is exhausted, logging fails as well.
     */
    private static void logFailure(Throwable failure) {
        try {
            logger.error("Poll loop failed; it continues on the next wake-up, or after the safety poll at the latest",
                    failure);
        }
        catch (Throwable ex) {
            // The next turn may succeed.
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
        this.planned = this.timer.after(wait, this::requestTurn);
    }

}
