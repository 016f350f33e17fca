package io.delayqueue.store;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Binds the message that a handler works on to its thread, so that a send of the same id
 * from there can be recognized.
 * <p>
 * <strong>Threads.</strong> Each sees what it has bound itself, and nothing else: a
 * handler that sends from another thread is not recognized.
 */
public final class CurrentMessage {

    private static final ThreadLocal<@Nullable Lease> CURRENT = new ThreadLocal<>();

    private CurrentMessage() {
    }

    /**
     * Binds a message to this thread.
     * @param lease its lease; {@code null} to bind none
     * @return what was bound before, to be bound again when the handler has returned
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

    /** Whether this thread handles the message of that id. */
    public static boolean is(QueueName queue, String id) {
        Lease current = CURRENT.get();
        return current != null && current.id().equals(id) && current.queue().equals(queue);
    }

}
