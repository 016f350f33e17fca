package io.delayqueue.memory;

import java.util.HashMap;
import java.util.Map;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.store.NewMessage;

/**
 * Keeps the ids of one queue whose duplicate windows have begun.
 * <p>
 * <strong>Threads.</strong> The caller of a method holds the lock of the queue.
 */
final class MemoryDuplicates {

    /** When each window ends, ms. */
    private final Map<String, Long> ends = new HashMap<>();

    boolean isEmpty() {
        return this.ends.isEmpty();
    }

    /**
     * Forgets the windows that have ended.
     * @param held whether the queue holds its id
     * @throws io.delayqueue.StoreRefusedException if the others are too many to store a
     * message that has one
     */
    void requireRoom(NewMessage sent, boolean held, QueueName queue, long now) {
        if (sent.duplicateWindow() == null || held) {
            return;
        }
        long millis = Micros.floorToMillis(now);
        this.ends.values().removeIf((end) -> end <= millis);
        if (!keepsOut(sent, now) && this.ends.size() >= NewMessage.MAX_WINDOWS) {
            throw sent.exceedsWindows(queue);
        }
    }

    /** Returns whether the window of its id keeps out a message that is checked. */
    boolean keepsOut(NewMessage sent, long now) {
        Long end = this.ends.get(sent.id());
        return sent.duplicateWindow() != null && end != null && end > Micros.floorToMillis(now);
    }

    /** Begins the window of a message that has one, unless it was cancelled. */
    void begin(MemoryMessage message, long now) {
        if (message.window != MemoryMessage.NONE && !message.cancelled) {
            this.ends.put(message.id, Micros.ceilToMillis(now) + message.window);
        }
    }

    /**
     * Ends the window that began with a dead letter. One that ends too late for that is
     * of a later message of the id.
     */
    void end(String id, long deadLetteredMillis) {
        Long end = this.ends.get(id);
        if (end != null && end <= deadLetteredMillis + 1 + MessageLimits.MAX_DUPLICATE_WINDOW.toMillis()) {
            end(id);
        }
    }

    /** Ends the window of an id. */
    void end(String id) {
        this.ends.remove(id);
    }

}
