package io.delayqueue.store;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Binds the message being handled to the handler's thread, to detect that the handler
 * sends a message with the same id.
 * <p>
 * <strong>Threads.</strong> Thread-local: a send from another thread is not detected.
 */
public final class CurrentMessageHolder {

    private static final ThreadLocal<@Nullable Lease> CURRENT = new ThreadLocal<>();

    private CurrentMessageHolder() {
    }

    /**
     * Binds a message to this thread.
     * @param lease its lease; {@code null} to unbind
     * @return the previous binding, to be restored when the handler has returned
     */
    public static @Nullable Lease bind(@Nullable Lease lease) {
        Lease before = CURRENT.get();
        if (lease != null) {
            CURRENT.set(lease);
        }
        else {
            CURRENT.remove();
        }
        return before;
    }

    /** Returns whether this thread is handling the message with that id. */
    public static boolean is(QueueName queue, String id) {
        Lease current = CURRENT.get();
        return current != null && current.id().equals(id) && current.queue().equals(queue);
    }

}
