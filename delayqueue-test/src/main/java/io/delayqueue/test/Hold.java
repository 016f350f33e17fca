package io.delayqueue.test;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Keeps the handling of one message from ending while a test moves time: a handler that
 * returns waits here. One that throws does not.
 * <p>
 * <strong>Threads.</strong> The handler's, and that of the test.
 */
final class Hold {

    /** How long a handler that computes is waited for before time is moved. */
    private static final long COMPUTES = TimeUnit.SECONDS.toNanos(1);

    /** Milliseconds without progress after which a thread counts as waiting. */
    private static final int BLOCKED = 5;

    private final String id;

    private @Nullable Handling handling;

    private boolean returned;

    private boolean released;

    private @Nullable Runnable onRelease;

    Hold(String id) {
        this.id = id;
    }

    /** Attaches to the handling of a message, if it is the first with the id. */
    synchronized boolean attach(Handling started) {
        if (this.handling != null || this.released || !started.hasId(this.id)) {
            return false;
        }
        this.handling = started;
        return true;
    }

    /** Returns whether the handler of the message has been called. */
    synchronized boolean isAttached() {
        return this.handling != null;
    }

    synchronized boolean isReleased() {
        return this.released;
    }

    /** Waits on the handler's thread until the test has moved time. */
    synchronized void await() throws InterruptedException {
        this.returned = true;
        notifyAll();
        while (!this.released) {
            wait();
        }
    }

    /** Runs a task once the test has moved time, for a handler that returned a future. */
    void whenReleased(Runnable task) {
        synchronized (this) {
            this.returned = true;
            if (!this.released) {
                this.onRelease = task;
                notifyAll();
                return;
            }
        }
        task.run();
    }

    /** Lets the handling end. */
    void release() {
        Runnable task;
        synchronized (this) {
            this.returned = true;
            this.released = true;
            task = this.onRelease;
            this.onRelease = null;
            notifyAll();
        }
        if (task != null) {
            task.run();
        }
    }

    /**
     * Waits until the handler has returned, or waits for something itself: so its first
     * statements see the time at which it was called.
     */
    synchronized void awaitStart() throws InterruptedException {
        long begin = System.nanoTime();
        int blocked = 0;
        while (!this.returned && blocked < BLOCKED && System.nanoTime() - begin < COMPUTES) {
            wait(1);
            blocked = (this.handling != null && this.handling.isBlocked()) ? blocked + 1 : 0;
        }
    }

}
