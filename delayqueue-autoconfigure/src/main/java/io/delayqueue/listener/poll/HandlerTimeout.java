package io.delayqueue.listener.poll;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Ends a handler that takes too long: stops renewing its lease and interrupts its thread
 * or, once it has returned a future, cancels that future. Also interrupts a handler that
 * outlives the stop of the application.
 * <p>
 * <strong>Threads.</strong> The handler's thread, the timer, and the thread that stops
 * the application. The lock of this object ensures that no interrupt arrives after the
 * handler returned, where it would affect unrelated code on that thread.
 */
final class HandlerTimeout {

    private final InFlightMessage message;

    private @Nullable Thread thread = Thread.currentThread();

    private @Nullable Runnable cancellation;

    private boolean over;

    private boolean fired;

    private boolean stopped;

    private @Nullable Runnable unschedule;

    private HandlerTimeout(InFlightMessage message) {
        this.message = message;
    }

    /** Starts the timeout. Call on the thread of the handler, right before it. */
    static HandlerTimeout start(InFlightMessage message, @Nullable Duration timeout, LoopTimer timer) {
        HandlerTimeout handlerTimeout = new HandlerTimeout(message);
        if (timeout != null) {
            handlerTimeout.unschedule = timer.after(timeout, handlerTimeout::fire);
        }
        return handlerTimeout;
    }

    private void fire() {
        Runnable task;
        synchronized (this) {
            if (this.over) {
                return;
            }
            this.fired = true;
            this.message.stopRenewing();
            if (this.thread != null) {
                this.thread.interrupt();
            }
            task = this.cancellation;
        }
        if (task != null) {
            task.run();
        }
    }

    /**
     * Interrupts the handler because the application stops.
     * @return {@code false} if it no longer runs on a thread
     */
    synchronized boolean interrupt() {
        if (this.thread == null) {
            return false;
        }
        this.stopped = !this.fired;
        this.thread.interrupt();
        return true;
    }

    /** Returns whether the stop interrupted it before it timed out. */
    synchronized boolean isStopped() {
        return this.stopped;
    }

    /** Records that the handler returned; its thread is no longer interrupted. */
    synchronized void returned() {
        this.thread = null;
    }

    /** Replaces the interrupt by an action, which runs at once if the time is over. */
    void cancelBy(Runnable cancellation) {
        boolean late;
        synchronized (this) {
            this.cancellation = cancellation;
            late = this.fired;
        }
        if (late) {
            cancellation.run();
        }
    }

    /**
     * Ends the timeout.
     * @return whether it had fired before
     */
    synchronized boolean end() {
        this.over = true;
        if (this.unschedule != null) {
            this.unschedule.run();
        }
        return this.fired;
    }

}
