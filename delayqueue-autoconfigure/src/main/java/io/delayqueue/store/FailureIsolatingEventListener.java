package io.delayqueue.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies {@link MessageEventListener}s in order. If one fails, logs that, the first
 * time as a warning, and notifies the next one.
 */
final class FailureIsolatingEventListener implements MessageEventListener {

    private static final Logger logger = LoggerFactory.getLogger(FailureIsolatingEventListener.class);

    private final List<MessageEventListener> listeners;

    private final AtomicBoolean warned = new AtomicBoolean();

    private final BackgroundLog log = new BackgroundLog();

    FailureIsolatingEventListener(List<MessageEventListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    @Override
    public QueueEventListener of(QueueName queue) {
        return isolating((each) -> each.of(queue));
    }

    @Override
    public QueueEventListener of(QueueName queue, String listenerId) {
        return isolating((each) -> each.of(queue, listenerId));
    }

    private QueueEventListener isolating(Function<MessageEventListener, QueueEventListener> of) {
        List<QueueEventListener> all = new ArrayList<>();
        each(this.listeners, "of", (one) -> all.add(of.apply(one)));
        all.removeIf(QueueEventListener.NONE::equals);
        return all.isEmpty() ? QueueEventListener.NONE : new Isolating(all);
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
        each(this.listeners, "called", (one) -> one.called(script, nanos, answered));
    }

    private <T> void each(List<T> all, String event, Consumer<T> notification) {
        for (T one : all) {
            try {
                notification.accept(one);
            }
            catch (RuntimeException ex) {
                failed(event, ex);
            }
        }
    }

    private void failed(String event, RuntimeException failure) {
        if (this.warned.compareAndSet(false, true)) {
            this.log.execute(() -> logger
                .warn("A listener of the event '{}' failed, so it may not be counted; further failures are logged at "
                        + "debug level", event, failure));
        }
        else {
            logger.debug("A listener of the event '{}' failed", event, failure);
        }
    }

    private final class Isolating implements QueueEventListener {

        private final List<QueueEventListener> all;

        Isolating(List<QueueEventListener> all) {
            this.all = all;
        }

        private void each(String event, Consumer<QueueEventListener> notification) {
            FailureIsolatingEventListener.this.each(this.all, event, notification);
        }

        @Override
        public void sent(SendOutcome outcome) {
            each("sent", (one) -> one.sent(outcome));
        }

        @Override
        public void sendFailed() {
            each("sendFailed", QueueEventListener::sendFailed);
        }

        @Override
        public void cancelled() {
            each("cancelled", QueueEventListener::cancelled);
        }

        @Override
        public void started(long latenessNanos) {
            each("started", (one) -> one.started(latenessNanos));
        }

        @Override
        public void handled(HandlerOutcome outcome, long nanos) {
            each("handled", (one) -> one.handled(outcome, nanos));
        }

        @Override
        public void retried() {
            each("retried", QueueEventListener::retried);
        }

        @Override
        public void deadLettered() {
            each("deadLettered", QueueEventListener::deadLettered);
        }

        @Override
        public void expired(long messages) {
            each("expired", (one) -> one.expired(messages));
        }

        @Override
        public void leaseLost() {
            each("leaseLost", QueueEventListener::leaseLost);
        }

        @Override
        public void redelivered() {
            each("redelivered", QueueEventListener::redelivered);
        }

    }

}
