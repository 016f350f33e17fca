package io.delayqueue.engine;

import java.util.Collection;
import java.util.List;

import io.delayqueue.QueueName;

/**
 * Told of what happens in this process, for meters and the like.
 * <p>
 * <strong>Threads.</strong> Any; see {@link QueueEvents}.
 */
public interface MessageEvents {

    /** Tells nobody. */
    MessageEvents NONE = new MessageEvents() {

        @Override
        public QueueEvents of(QueueName queue) {
            return QueueEvents.NONE;
        }

        @Override
        public QueueEvents of(QueueName queue, String listenerId) {
            return QueueEvents.NONE;
        }

        @Override
        public void called(String script, long nanos, boolean answered) {
        }

    };

    /** Who is told of a queue by those that send, receive and steer; asked each time. */
    QueueEvents of(QueueName queue);

    /** Who is told by a listener of what it does on one of its queues; asked once. */
    QueueEvents of(QueueName queue, String listenerId);

    /**
     * A script was called.
     * @param script its name, one of a few dozen
     * @param nanos until the answer was there, or the failure
     * @param answered {@code false} if the call failed
     */
    void called(String script, long nanos, boolean answered);

    /**
     * Notifies all of {@code events}, in their order. A failure of one is logged; the
     * others are notified all the same, and the caller never sees it.
     */
    static MessageEvents composed(Collection<MessageEvents> events) {
        List<MessageEvents> guarded = events.stream()
            .filter((each) -> each != NONE)
            .map(MessageEvents::guarded)
            .toList();
        return switch (guarded.size()) {
            case 0 -> NONE;
            case 1 -> guarded.get(0);
            default -> new CompositeEvents(guarded);
        };
    }

    private static MessageEvents guarded(MessageEvents events) {
        return (events instanceof GuardedEvents) ? events : new GuardedEvents(events);
    }

}
