package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Ends a handler that takes too long: its lease is not renewed any more, and its thread
 * is interrupted or, once it has returned a future, that future is cancelled. Also
 * interrupts a handler that outlives the stop of the application.
 * <p>
 * <strong>Threads.</strong> The handler's thread, the timer, and the one that stops the
 * worker. A lock makes sure that the interrupt comes while the handler runs or not at
 * all: one that came later would hit whatever the thread does next.
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

    /** To be called on the thread of the handler, right before it. */
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
     * Interrupts the handler as the application stops.
     * @return {@code false} if it does not run on a thread any more
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

    /** Whether it was interrupted by the stop, and its time was not over before. */
    boolean isStopped() {
        this.lock.lock();
        try {
            return this.stopped;
        }
        finally {
            this.lock.unlock();
        }
    }

    /** The handler has returned or thrown: from here on, its thread is left alone. */
    void returned() {
        this.lock.lock();
        try {
            this.thread = null;
        }
        finally {
            this.lock.unlock();
        }
    }

    /** What to do instead of an interrupt; done at once if the time is over already. */
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
     * The handling has ended.
     * @return whether the time was over before
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
