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
 * Runs the turns of a loop, one at a time: when it rings, and when the wait that the last
 * turn returned is over. A ring during a turn causes another turn, so no event is missed.
 * <p>
 * <strong>Threads.</strong> Any thread rings. A turn runs on a thread of the executor,
 * which may be the ringing thread or the timer's, so it must not block. Each turn sees
 * the writes of the turn before.
 */
final class Alarm {

    private static final Logger logger = LoggerFactory.getLogger(Alarm.class);

    /** The alarms whose turns wait for the turn that runs on this thread. */
    private static final ThreadLocal<@Nullable Queue<Alarm>> RANG = new ThreadLocal<>();

    private final Supplier<@Nullable Duration> turn;

    private final Executor threads;

    private final Timer timer;

    private final LongSupplier nanoTime;

    /**
     * Counts the rings since the last turn began, plus one for that turn. Above zero, a
     * turn is running or scheduled; the initial value stands for the first turn.
     */
    private final AtomicInteger rings = new AtomicInteger(1);

    /** The next ring, maybe earlier than needed; only turns use these two fields. */
    private Timer.@Nullable Scheduled planned;

    private long plannedAt;

    private volatile long turnedAt;

    /**
     * Creates an alarm, which runs no turn before {@link #start()}.
     * @param turn returns how long to wait for a ring until the next turn; {@code null}
     * to wait without limit
     * @param threads run the turns
     * @param timer rings when the wait is over
     * @param nanoTime the monotonic clock
     */
    Alarm(Supplier<@Nullable Duration> turn, Executor threads, Timer timer, LongSupplier nanoTime) {
        this.turn = turn;
        this.threads = threads;
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.turnedAt = nanoTime.getAsLong();
    }

    /** Returns the time since the last turn ended that did not fail. */
    Duration silence() {
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
            this.rings.set(0);
            logger.warn("No thread for a loop; it goes on with the next ring, a safety poll later at most", ex);
        }
    }

    /** Requests a turn that begins after this call. */
    void ring() {
        if (this.rings.getAndIncrement() == 0) {
            takeTurnsOnAThread();
        }
    }

    /**
     * Runs turns until no ring came during one; after each turn, other alarms that rang
     * on this thread get theirs. Turns are therefore never nested, and the messages that
     * a turn claimed are dispatched before another turn begins.
     */
    private void takeTurns() {
        Queue<Alarm> others = RANG.get();
        if (others != null) {
            others.add(this);
            return;
        }
        Queue<Alarm> next = new ArrayDeque<>(List.of(this));
        RANG.set(next);
        try {
            while (!next.isEmpty()) {
                Alarm alarm = next.remove();
                if (alarm.takeTurn()) {
                    next.add(alarm);
                }
            }
        }
        finally {
            RANG.remove();
        }
    }

    /** Runs one turn and returns whether another one must follow. */
    private boolean takeTurn() {
        this.rings.set(1);
        try {
            plan(this.turn.get());
            this.turnedAt = this.nanoTime.getAsLong();
        }
        catch (Throwable ex) {
            tell(ex);
        }
        return !this.rings.compareAndSet(1, 0);
    }

    /**
     * Logs a failed turn. Must not throw, as that would end the loop permanently; if
     * memory is exhausted, logging fails as well.
     */
    private static void tell(Throwable failure) {
        try {
            logger.error("A loop failed; it goes on with the next ring, a safety poll later at most", failure);
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
            this.rings.incrementAndGet();
            return;
        }
        long now = this.nanoTime.getAsLong();
        long at = now + Nanos.of(wait);
        Timer.Scheduled before = this.planned;
        if (before != null && this.plannedAt - now > 0) {
            if (this.plannedAt - at <= 0) {
                return;
            }
            before.cancel();
        }
        this.plannedAt = at;
        this.planned = this.timer.after(wait, this::ring);
    }

}
