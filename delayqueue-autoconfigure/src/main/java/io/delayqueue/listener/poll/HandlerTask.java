package io.delayqueue.listener.poll;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.QueueName;
import io.delayqueue.store.CurrentMessageHolder;
import org.jspecify.annotations.Nullable;

/**
 * Holds the messages that one call of a handler receives: one message, or those of a
 * batch. Uses one permit.
 * <p>
 * <strong>Threads.</strong> Filled by a loop and run by one handler thread. The stage
 * decides once which thread continues and owns the permit: the handler thread that starts
 * it, or the loop that releases its messages.
 */
final class HandlerTask implements CurrentMessageHolder.Messages {

    /** Most tasks have one message, and need no list that can grow. */
    private List<InFlightMessage> messages = List.of();

    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.CLAIMED);

    private volatile long dispatchedAt;

    /** The handler, once it is about to start. */
    private volatile @Nullable HandlerCall handler;

    /** Whether the handler is to be ended; set before the handler is read. */
    private volatile boolean interrupted;

    /** Adds a message; only until the task is handed to another thread. */
    void add(InFlightMessage message) {
        if (this.messages.isEmpty()) {
            this.messages = List.of(message);
            return;
        }
        if (this.messages.size() == 1) {
            this.messages = new ArrayList<>(this.messages);
        }
        this.messages.add(message);
    }

    /**
     * Returns the messages in the order of their claim, at least one. Not to be modified.
     */
    List<InFlightMessage> messages() {
        return this.messages;
    }

    @Override
    public boolean contains(QueueName queue, String id) {
        for (InFlightMessage message : this.messages) {
            if (message.lease().id().equals(id) && message.lease().queue().equals(queue)) {
                return true;
            }
        }
        return false;
    }

    int size() {
        return this.messages.size();
    }

    void dispatched(long now) {
        this.dispatchedAt = now;
    }

    long dispatchedAt() {
        return this.dispatchedAt;
    }

    void startedBy(HandlerCall handler) {
        this.handler = handler;
        if (this.interrupted) {
            handler.interrupt();
        }
    }

    /** Notifies the handler that the lease of a message is over. */
    void leaseEnded(long now) {
        HandlerCall running = this.handler;
        if (running != null) {
            running.leaseEnded(now);
        }
    }

    /** Ends the handler because its listener stops, also one that starts later. */
    void interrupt() {
        this.interrupted = true;
        HandlerCall running = this.handler;
        if (running != null) {
            running.interrupt();
        }
    }

    /** Marks it as started; at most one caller gets {@code true} and handles it. */
    boolean tryStart() {
        return this.stage.compareAndSet(Stage.CLAIMED, Stage.STARTED);
    }

    /**
     * Marks it as released, unless it was started; returns whether the caller must
     * release the leases of its messages.
     */
    boolean tryRelease() {
        return this.stage.compareAndSet(Stage.CLAIMED, Stage.RELEASED) || isReleased();
    }

    boolean isReleased() {
        return this.stage.get() == Stage.RELEASED;
    }

    /** Describes the messages for a log line. */
    @Override
    public String toString() {
        InFlightMessage first = this.messages.get(0);
        return (size() == 1) ? "message '%s' of queue '%s'".formatted(first.lease().id(), first.lease().queue())
                : "%d messages of queue '%s'".formatted(size(), first.lease().queue());
    }

    private enum Stage {

        CLAIMED, STARTED, RELEASED

    }

}
