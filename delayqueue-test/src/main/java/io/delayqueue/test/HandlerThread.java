package io.delayqueue.test;

/** Runs handlers, and records when it was interrupted. */
final class HandlerThread extends Thread {

    private volatile long interruptedAt;

    private volatile boolean wasInterrupted;

    HandlerThread(Runnable task, String name) {
        super(null, task, name, 0, false);
        setDaemon(true);
    }

    @Override
    public void interrupt() {
        this.interruptedAt = System.nanoTime();
        this.wasInterrupted = true;
        super.interrupt();
    }

    /** Returns whether it was interrupted at a time or later. */
    boolean interruptedAt(long nanos) {
        return this.wasInterrupted && this.interruptedAt - nanos >= 0;
    }

}
