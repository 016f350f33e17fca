package io.delayqueue.memory;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

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

    /** The same windows, the first to end first. */
    private final NavigableSet<Window> order = new TreeSet<>(Window.BY_END);

    boolean isEmpty() {
        return this.ends.isEmpty();
    }

    /** Forgets the windows that have ended. */
    void trim(long now) {
        long millis = Micros.floorToMillis(now);
        while (!this.order.isEmpty() && this.order.first().end() <= millis) {
            end(this.order.first().id());
        }
    }

    /**
     * Rejects a message that has a window if too many windows have begun to store it.
     * @param held whether the queue holds its id
     * @throws io.delayqueue.StoreRefusedException if they are too many
     */
    void requireRoom(NewMessage sent, boolean held, QueueName queue, long now) {
        boolean begins = sent.duplicateWindow() != null && !held && !keepsOut(sent, now);
        if (begins && this.ends.size() >= NewMessage.MAX_WINDOWS) {
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
            end(message.id);
            Window window = new Window(message.id, Micros.ceilToMillis(now) + message.window);
            this.ends.put(window.id(), window.end());
            this.order.add(window);
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
        Long end = this.ends.remove(id);
        if (end != null) {
            this.order.remove(new Window(id, end));
        }
    }

    /** Holds when the window of an id ends, ms. */
    private record Window(String id, long end) {

        static final Comparator<Window> BY_END = Comparator.comparingLong(Window::end).thenComparing(Window::id);

    }

}
