package io.delayqueue.engine;

import java.util.List;
import java.util.function.Consumer;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;

/**
 * Notifies several {@link MessageEvents}, one after the other. Each is guarded, so that a
 * failure of one does not keep an event from the next.
 */
final class CompositeEvents implements MessageEvents {

    private final List<MessageEvents> events;

    CompositeEvents(List<MessageEvents> guarded) {
        this.events = List.copyOf(guarded);
    }

    @Override
    public QueueEvents of(QueueName queue) {
        return new CompositeQueueEvents(this.events.stream().map((each) -> each.of(queue)).toList());
    }

    @Override
    public QueueEvents of(QueueName queue, String listenerId) {
        return new CompositeQueueEvents(this.events.stream().map((each) -> each.of(queue, listenerId)).toList());
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
        this.events.forEach((each) -> each.called(script, nanos, answered));
    }

    private record CompositeQueueEvents(List<QueueEvents> all) implements QueueEvents {

        private void each(Consumer<QueueEvents> event) {
            this.all.forEach(event);
        }

        @Override
        public void sent(SendOutcome outcome) {
            each((one) -> one.sent(outcome));
        }

        @Override
        public void sendFailed() {
            each(QueueEvents::sendFailed);
        }

        @Override
        public void cancelled() {
            each(QueueEvents::cancelled);
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
            each(QueueEvents::retried);
        }

        @Override
        public void died() {
            each(QueueEvents::died);
        }

        @Override
        public void expired(long messages) {
            each((one) -> one.expired(messages));
        }

        @Override
        public void refused() {
            each(QueueEvents::refused);
        }

        @Override
        public void redelivered() {
            each(QueueEvents::redelivered);
        }

    }

}
