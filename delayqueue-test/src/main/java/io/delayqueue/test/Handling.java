package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.Delivery;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;

/**
 * Represents a handler that was called and whose handling has not ended.
 * <p>
 * <strong>Threads.</strong> The handler's thread writes; any thread reads.
 */
final class Handling {

    private static final int MAX_FRAMES = 12;

    private final String listenerId;

    private final Delivery delivery;

    private final Instant startedAt;

    private final long startedNanos = System.nanoTime();

    /** {@code null} once the handler has returned a future. */
    private volatile @Nullable Thread thread = Thread.currentThread();

    private volatile @Nullable Hold hold;

    Handling(String listenerId, Delivery delivery, Instant startedAt) {
        this.listenerId = listenerId;
        this.delivery = delivery;
        this.startedAt = startedAt;
    }

    boolean hasId(String id) {
        return this.delivery.id().equals(id);
    }

    Delivery delivery() {
        return this.delivery;
    }

    @Nullable Thread thread() {
        return this.thread;
    }

    void hold(Hold hold) {
        this.hold = hold;
    }

    /** Returns the hold that keeps it from ending; {@code null} if there is none. */
    @Nullable Hold hold() {
        return this.hold;
    }

    /**
     * Returns whether it waits for the test to move time. A handler that was interrupted
     * does not: it ends soon, or swallows the interrupt.
     */
    boolean isHeld() {
        Hold hold = this.hold;
        return hold != null && !hold.isReleased() && !wasInterrupted();
    }

    /** Returns whether its thread was interrupted since it was called. */
    private boolean wasInterrupted() {
        Thread thread = this.thread;
        return (thread instanceof HandlerThread own) ? own.interruptedAt(this.startedNanos)
                : thread != null && thread.isInterrupted();
    }

    void returnedFuture() {
        this.thread = null;
    }

    /** Returns whether its thread waits for something. */
    boolean isBlocked() {
        Thread thread = this.thread;
        if (thread == null) {
            return true;
        }
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING || state == Thread.State.BLOCKED;
    }

    /**
     * Describes it and where it stands.
     * @param now the virtual time
     */
    String describe(Instant now) {
        Thread thread = this.thread;
        long seconds = Duration.ofNanos(System.nanoTime() - this.startedNanos).toSeconds();
        StringBuilder text = new StringBuilder(
                "  listener '%s' handles %s, for %d s%n".formatted(this.listenerId, this.delivery, seconds));
        Duration passed = Duration.between(this.startedAt, now);
        if (wasInterrupted()) {
            text.append("    it was interrupted, as its timeout was over, and runs on: it swallows the interrupt\n");
        }
        else if (passed.compareTo(Duration.ZERO) > 0) {
            text.append("    %s of virtual time have passed since it began\n".formatted(Texts.span(passed)));
        }
        if (thread == null) {
            text.append("    it has returned a future that is not complete\n");
        }
        else {
            frames(thread).forEach((frame) -> text.append("    at ").append(frame).append('\n'));
        }
        return text.toString();
    }

    private static List<String> frames(Thread thread) {
        return Stream.of(thread.getStackTrace())
            .takeWhile((frame) -> !frame.getClassName().startsWith("jdk.internal.reflect.")
                    && !frame.getClassName().startsWith("io.delayqueue.listener."))
            .limit(MAX_FRAMES)
            .map(StackTraceElement::toString)
            .toList();
    }

}
