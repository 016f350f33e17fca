package io.delayqueue.store;

import java.util.Collection;
import java.util.List;

import io.delayqueue.QueueName;

/**
 * Receives the events of this process, for example for meters.
 * <p>
 * <strong>Threads.</strong> Any; see {@link QueueEventListener}.
 */
public interface MessageEventListener {

    /** Ignores all events. */
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

    /**
     * Returns the listener for the events of a queue outside its message listeners;
     * called for every event.
     */
    QueueEventListener of(QueueName queue);

    /**
     * Returns the listener for the events of one queue of a message listener; called
     * once.
     */
    QueueEventListener of(QueueName queue, String listenerId);

    /**
     * Called after a script call.
     * @param script its name, one of a few dozen
     * @param nanos duration until the answer or the failure
     * @param answered {@code false} if the call failed
     */
    void called(String script, long nanos, boolean answered);

    /**
     * Returns a listener that notifies all of {@code events} in order. An exception of
     * one is logged, and neither prevents the notification of the others nor reaches the
     * caller.
     */
    static MessageEventListener composed(Collection<MessageEventListener> events) {
        List<MessageEventListener> all = events.stream().filter((each) -> each != NONE).toList();
        if (all.size() == 1 && all.get(0) instanceof FailureIsolatingEventListener) {
            return all.get(0);
        }
        return all.isEmpty() ? NONE : new FailureIsolatingEventListener(all);
    }

}
