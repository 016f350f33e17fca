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
 * Gives a loop its turns, one at a time: when it rings, and when the time is over that
 * the last turn named. A ring during a turn is followed by another turn, so nothing that
 * happens meanwhile is missed.
 * <p>
 * <strong>Threads.</strong> Any thread rings. A turn is taken on a thread of the
 * executor, which may be the one that rings, or the timer's: it must not wait. What one
 * turn has written the next one sees.
 */
final class Alarm {

    private static final Logger logger = LoggerFactory.getLogger(Alarm.class);

    /** The alarms that wait for their turns on a thread which takes turns. */
    private static final ThreadLocal<@Nullable Queue<Alarm>> RANG = new ThreadLocal<>();

    private final Supplier<@Nullable Duration> turn;

    private final Executor threads;

    private final Timer timer;

    private final LongSupplier nanoTime;

    /**
     * Since the last turn began, and one for that. Above zero a turn is taken or will be:
     * the first one at the start.
     */
    private final AtomicInteger rings = new AtomicInteger(1);

    /** Rings next; may be earlier than needed. Only turns use these two. */
    private Timer.@Nullable Scheduled planned;

    private long plannedAt;

    private volatile long turnedAt;

    /**
     * Makes an alarm; there is no turn before {@link #start()}.
     * @param turn returns how long there is nothing to do unless it rings, {@code null}
     * for ever
     * @param threads run the turns
     * @param timer rings when the time is over
     * @param nanoTime the monotonic clock
     */
    Alarm(Supplier<@Nullable Duration> turn, Executor threads, Timer timer, LongSupplier nanoTime) {
        this.turn = turn;
        this.threads = threads;
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.turnedAt = nanoTime.getAsLong();
    }

    /** How long ago the last turn ended; also if that failed none is counted. */
    Duration silence() {
        return Duration.ofNanos(Math.max(0, this.nanoTime.getAsLong() - this.turnedAt));
    }

    /** Has the first turn taken. */
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

    /** Has a turn taken that begins after this call. */
    void ring() {
        if (this.rings.getAndIncrement() == 0) {
            takeTurnsOnAThread();
        }
    }

    /**
     * Takes turns until there was no ring during one; after each, other alarms that rang
     * on this thread meanwhile have theirs. So turns are never nested, and what one has
     * brought is handed out before others begin.
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

    /** Takes one turn; returns whether there is to be another. */
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
     * What is thrown here would end the loop for good, and with no memory left, telling
     * fails as well.
     */
    private static void tell(Throwable failure) {
        try {
            logger.error("A loop failed; it goes on with the next ring, a safety poll later at most", failure);
        }
        catch (Throwable ex) {
            // The next turn may be better off.
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
