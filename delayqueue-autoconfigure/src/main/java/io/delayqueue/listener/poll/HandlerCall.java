package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Tracks one running handler, and ends it by an interrupt or a cancellation: after its
 * timeout, when its listener stops, or when its leases are lost. Also ends a handler that
 * outlives the stop of its listener, and one that can be cancelled once no lease of its
 * messages is left.
 * <p>
 * <strong>Threads.</strong> The handler's thread, the timer, the threads that stop the
 * listener, and that of the store's connection. The lock of this object ensures that no
 * interrupt arrives after the handler returned, where it would affect unrelated code on
 * that thread.
 */
final class HandlerCall {

    private final PartitionBinding binding;

    private final List<InFlightMessage> messages;

    private final long startedAt;

    private @Nullable Thread thread = Thread.currentThread();

    private @Nullable Runnable cancellation;

    /** Whether the cancellation ends the handling, rather than only our wait for it. */
    private boolean cancellable;

    /** Whether a stop came after the return, when it was not known how to cancel. */
    private boolean stopping;

    private boolean over;

    /** The first reason to end the handler. */
    private Reason reason = Reason.NONE;

    private @Nullable Runnable unschedule;

    private HandlerCall(PartitionBinding binding, List<InFlightMessage> messages, long startedAt) {
        this.binding = binding;
        this.messages = messages;
        this.startedAt = startedAt;
    }

    /** Starts the timeout. Call on the thread of the handler, right before it. */
    static HandlerCall start(PartitionBinding binding, List<InFlightMessage> messages, PollLoopContext context) {
        HandlerCall call = new HandlerCall(binding, messages, context.now());
        Duration timeout = binding.settings().timeout();
        LoopTimer timer = context.timer();
        if (timeout != null) {
            call.unschedule = timer.after(timeout, call::fire);
        }
        return call;
    }

    PartitionBinding binding() {
        return this.binding;
    }

    /** Returns the messages that the handler receives, at least one. */
    List<InFlightMessage> messages() {
        return this.messages;
    }

    /** Returns the time of this process at the start of the handler. */
    long startedAt() {
        return this.startedAt;
    }

    /**
     * Returns the stack of the thread that the handler runs on; empty once it has
     * returned. The lock keeps the thread from leaving the handler meanwhile, so no frame
     * is of the code that follows.
     */
    synchronized StackTraceElement[] stack() {
        return (this.thread != null) ? this.thread.getStackTrace() : new StackTraceElement[0];
    }

    private void fire() {
        Runnable action;
        synchronized (this) {
            if (this.over) {
                return;
            }
            noteReason(Reason.TIMEOUT);
            this.messages.forEach(InFlightMessage::stopRenewing);
            if (this.thread != null) {
                this.thread.interrupt();
            }
            action = this.cancellation;
        }
        run(action);
    }

    private void noteReason(Reason next) {
        if (this.reason == Reason.NONE) {
            this.reason = next;
        }
    }

    private static void run(@Nullable Runnable action) {
        if (action != null) {
            action.run();
        }
    }

    /**
     * Ends the handler because its listener stops. A second call changes nothing: the
     * first interrupt may be what the handler is dealing with.
     * @return {@code false} if it neither runs on a thread nor can be cancelled; one that
     * has ended is about to settle its messages
     */
    boolean interrupt() {
        Runnable action;
        synchronized (this) {
            if (this.over || this.reason == Reason.STOP) {
                return true;
            }
            if (this.thread == null && !this.cancellable) {
                this.stopping = true;
                return false;
            }
            noteReason(Reason.STOP);
            if (this.thread != null) {
                this.thread.interrupt();
            }
            action = this.cancellation;
        }
        run(action);
        return true;
    }

    /**
     * Cancels the handler if it can be cancelled and none of its messages is leased.
     * Called again and again while a lease is over, as a handler on a thread cannot be
     * cancelled yet.
     */
    void leaseEnded(long now) {
        Runnable action;
        synchronized (this) {
            if (this.over || !this.cancellable || this.reason != Reason.NONE
                    || this.messages.stream().anyMatch((message) -> message.isLive(now))) {
                return;
            }
            this.reason = Reason.LEASE_LOST;
            action = this.cancellation;
        }
        run(action);
    }

    /** Returns whether the stop was the first reason to end it. */
    synchronized boolean isStopped() {
        return this.reason == Reason.STOP;
    }

    /** Returns whether it was cancelled because no message was leased any more. */
    synchronized boolean isLeaseLost() {
        return this.reason == Reason.LEASE_LOST;
    }

    /** Records that the handler returned; its thread is no longer interrupted. */
    synchronized void returned() {
        this.thread = null;
    }

    /**
     * Replaces the interrupt by an action, which runs at once if there is a reason.
     * @param cancellable whether the action ends the handling itself
     */
    void cancelBy(Runnable cancellation, boolean cancellable) {
        boolean late;
        synchronized (this) {
            this.cancellation = cancellation;
            this.cancellable = cancellable;
            if (cancellable && this.stopping) {
                noteReason(Reason.STOP);
            }
            late = this.reason == Reason.TIMEOUT || (cancellable && this.reason != Reason.NONE);
        }
        if (late) {
            cancellation.run();
        }
    }

    /**
     * Ends the timeout.
     * @return whether it was the first reason to end the handler
     */
    synchronized boolean end() {
        this.over = true;
        if (this.unschedule != null) {
            this.unschedule.run();
        }
        return this.reason == Reason.TIMEOUT;
    }

    private enum Reason {

        NONE, TIMEOUT, STOP, LEASE_LOST

    }

}
