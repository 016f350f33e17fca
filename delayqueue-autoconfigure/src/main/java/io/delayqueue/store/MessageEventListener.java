package io.delayqueue.store;

import java.util.Collection;
import java.util.List;

import io.delayqueue.QueueName;

/**
 * Told of what happens in this process, for meters and the like.
 * <p>
 * <strong>Threads.</strong> Any; see {@link QueueEventListener}.
 */
public interface MessageEventListener {

    /** Tells nobody. */
    MessageEventListener NONE = new MessageEventListener() {

        @Override
        public QueueEventListener of(QueueName queue) {
            return QueueEventListener.NONE;
        }

        @Override
        public QueueEventListener of(QueueName queue, String listenerId) {
            return QueueEventListener.NONE;
        }

        @Override
        public void called(String script, long nanos, boolean answered) {
        }

    };

    /** Who is told of a queue by those that send, receive and steer; asked each time. */
    QueueEventListener of(QueueName queue);

    /** Who is told by a listener of what it does on one of its queues; asked once. */
    QueueEventListener of(QueueName queue, String listenerId);

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
    static MessageEventListener composed(Collection<MessageEventListener> events) {
        List<MessageEventListener> guarded = events.stream()
            .filter((each) -> each != NONE)
            .map(MessageEventListener::guarded)
            .toList();
        return switch (guarded.size()) {
            case 0 -> NONE;
            case 1 -> guarded.get(0);
            default -> new CompositeEventListener(guarded);
        };
    }

    private static MessageEventListener guarded(MessageEventListener events) {
        return (events instanceof FailureIsolatingEventListener) ? events : new FailureIsolatingEventListener(events);
    }

}
