package io.delayqueue.store;

import java.util.List;
import java.util.function.Consumer;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;

/**
 * Notifies several {@link MessageEventListener}s in order. Failures are isolated, so that
 * the next listener is notified if one throws.
 */
final class CompositeEventListener implements MessageEventListener {

    private final List<MessageEventListener> events;

    CompositeEventListener(List<MessageEventListener> guarded) {
        this.events = List.copyOf(guarded);
    }

    @Override
    public QueueEventListener of(QueueName queue) {
        return new CompositeQueueEvents(this.events.stream().map((each) -> each.of(queue)).toList());
    }

    @Override
    public QueueEventListener of(QueueName queue, String listenerId) {
        return new CompositeQueueEvents(this.events.stream().map((each) -> each.of(queue, listenerId)).toList());
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
        this.events.forEach((each) -> each.called(script, nanos, answered));
    }

    private record CompositeQueueEvents(List<QueueEventListener> all) implements QueueEventListener {

        private void each(Consumer<QueueEventListener> event) {
            this.all.forEach(event);
        }

        @Override
        public void sent(SendOutcome outcome) {
            each((one) -> one.sent(outcome));
        }

        @Override
        public void sendFailed() {
            each(QueueEventListener::sendFailed);
        }

        @Override
        public void cancelled() {
            each(QueueEventListener::cancelled);
        }

        @Override
        public void started(long latenessNanos) {
            each((one) -> one.started(latenessNanos));
        }

        @Override
        public void handled(HandlerOutcome outcome, long nanos) {
            each((one) -> one.handled(outcome, nanos));
        }

        @Override
        public void retried() {
            each(QueueEventListener::retried);
        }

        @Override
        public void died() {
            each(QueueEventListener::died);
        }

        @Override
        public void expired(long messages) {
            each((one) -> one.expired(messages));
        }

        @Override
        public void refused() {
            each(QueueEventListener::refused);
        }

        @Override
        public void redelivered() {
            each(QueueEventListener::redelivered);
        }

    }

}
