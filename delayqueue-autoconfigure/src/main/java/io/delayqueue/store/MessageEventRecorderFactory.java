package io.delayqueue.store;

import java.util.Collection;
import java.util.List;

import io.delayqueue.QueueName;

/**
 * Receives the events of this process, for example for meters.
 * <p>
 * <strong>Threads.</strong> Any; see {@link MessageEventRecorder}.
 */
public interface MessageEventRecorderFactory {

    /** Ignores all events. */
    MessageEventRecorderFactory NONE = new MessageEventRecorderFactory() {

        @Override
        public MessageEventRecorder of(QueueName queue) {
            return MessageEventRecorder.NONE;
        }

        @Override
        public MessageEventRecorder of(QueueName queue, String listenerId) {
            return MessageEventRecorder.NONE;
        }

        @Override
        public void called(String script, long nanos, boolean answered) {
        }

    };

    /**
     * Returns the listener for the events of a queue outside its message listeners;
     * called for every event.
     */
    MessageEventRecorder of(QueueName queue);

    /**
     * Returns the listener for the events of one queue of a message listener; called
     * once.
     */
    MessageEventRecorder of(QueueName queue, String listenerId);

    /** Discards what is kept for one queue of a message listener that was removed. */
    default void forget(QueueName queue, String listenerId) {
    }

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
    static MessageEventRecorderFactory composed(Collection<MessageEventRecorderFactory> events) {
        List<MessageEventRecorderFactory> all = events.stream().filter((each) -> each != NONE).toList();
        if (all.size() == 1 && all.get(0) instanceof FailureIsolatingEventRecorderFactory) {
            return all.get(0);
        }
        return all.isEmpty() ? NONE : new FailureIsolatingEventRecorderFactory(all);
    }

}
