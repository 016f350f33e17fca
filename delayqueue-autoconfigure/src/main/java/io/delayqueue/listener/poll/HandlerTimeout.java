package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Ends a handler that takes too long: stops renewing its lease and interrupts its thread
 * or, once it has returned a future, cancels that future. Also interrupts a handler that
 * outlives the stop of the application.
 * <p>
 * <strong>Threads.</strong> The handler's thread, the timer, and the thread that stops
 * the application. A lock ensures that no interrupt arrives after the handler returned,
 * where it would affect unrelated code on that thread.
 */
final class HandlerTimeout {

    private final InFlightMessage lease;

    private final ReentrantLock lock = new ReentrantLock();

    private @Nullable Thread thread = Thread.currentThread();

    private @Nullable Runnable cancellation;

    private boolean over;

    private boolean fired;

    private boolean stopped;

    private Timer.@Nullable Scheduled scheduled;

    private HandlerTimeout(InFlightMessage lease) {
        this.lease = lease;
    }

    /** Starts the timeout. Call on the thread of the handler, right before it. */
    static HandlerTimeout start(InFlightMessage lease, @Nullable Duration timeout, Timer timer) {
        HandlerTimeout handlerTimeout = new HandlerTimeout(lease);
        if (timeout != null) {
            handlerTimeout.scheduled = timer.after(timeout, handlerTimeout::fire);
        }
        return handlerTimeout;
    }

    private void fire() {
        Runnable task = null;
        this.lock.lock();
        try {
            if (this.over) {
                return;
            }
            this.fired = true;
            this.lease.stopRenewing();
            if (this.thread != null) {
                this.thread.interrupt();
            }
            task = this.cancellation;
        }
        finally {
            this.lock.unlock();
        }
        if (task != null) {
            task.run();
        }
    }

    /**
     * Interrupts the handler because the application stops.
     * @return {@code false} if it no longer runs on a thread
     */
    boolean interrupt() {
        this.lock.lock();
        try {
            if (this.thread == null) {
                return false;
            }
            this.stopped = !this.fired;
            this.thread.interrupt();
            return true;
        }
        finally {
            this.lock.unlock();
        }
    }

    /** Returns whether the stop interrupted it before it timed out. */
    boolean isStopped() {
        this.lock.lock();
        try {
            return this.stopped;
        }
        finally {
            this.lock.unlock();
        }
    }

    /** Records that the handler ended; its thread is no longer interrupted. */
    void returned() {
        this.lock.lock();
        try {
            this.thread = null;
        }
        finally {
            this.lock.unlock();
        }
    }

    /** Replaces the interrupt by an action, which runs at once if the time is over. */
    void cancelBy(Runnable cancellation) {
        boolean late;
        this.lock.lock();
        try {
            this.cancellation = cancellation;
            late = this.fired;
        }
        finally {
            this.lock.unlock();
        }
        if (late) {
            cancellation.run();
        }
    }

    /**
     * Ends the timeout.
     * @return whether it had fired before
     */
    boolean end() {
        this.lock.lock();
        try {
            this.over = true;
            if (this.scheduled != null) {
                this.scheduled.cancel();
            }
            return this.fired;
        }
        finally {
            this.lock.unlock();
        }
    }

}
