package io.delayqueue.store;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Binds the messages being handled to the handler's thread, to detect that the handler
 * sends a message with the id of one.
 * <p>
 * <strong>Threads.</strong> Thread-local: a send from another thread is not detected.
 */
public final class CurrentMessageHolder {

    private static final ThreadLocal<@Nullable Messages> CURRENT = new ThreadLocal<>();

    private CurrentMessageHolder() {
    }

    /**
     * Binds the messages that a handler receives to this thread.
     * @param messages {@code null} to unbind
     * @return the previous binding, to be restored when the handler has returned
     */
    public static @Nullable Messages bind(@Nullable Messages messages) {
        Messages before = CURRENT.get();
        if (messages != null) {
            CURRENT.set(messages);
        }
        else {
            CURRENT.remove();
        }
        return before;
    }

    /** Returns whether this thread is handling a message with that id. */
    public static boolean is(QueueName queue, String id) {
        Messages current = CURRENT.get();
        return current != null && current.contains(queue, id);
    }

    /** Holds the messages that a handler receives. */
    @FunctionalInterface
    public interface Messages {

        /** Returns whether one of them has that id. */
        boolean contains(QueueName queue, String id);

    }

}
