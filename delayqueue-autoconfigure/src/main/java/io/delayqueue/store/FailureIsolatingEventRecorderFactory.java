package io.delayqueue.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies {@link MessageEventRecorderFactory}s in order. If one fails, logs that, the
 * first time as a warning, and notifies the next one.
 */
final class FailureIsolatingEventRecorderFactory implements MessageEventRecorderFactory {

    private static final Logger logger = LoggerFactory.getLogger(FailureIsolatingEventRecorderFactory.class);

    private final List<MessageEventRecorderFactory> factories;

    private final AtomicBoolean warned = new AtomicBoolean();

    private final LogExecutor log = new LogExecutor();

    FailureIsolatingEventRecorderFactory(List<MessageEventRecorderFactory> factories) {
        this.factories = List.copyOf(factories);
    }

    @Override
    public MessageEventRecorder of(QueueName queue) {
        return isolating((each) -> each.of(queue));
    }

    @Override
    public MessageEventRecorder of(QueueName queue, String listenerId) {
        return isolating((each) -> each.of(queue, listenerId));
    }

    private MessageEventRecorder isolating(Function<MessageEventRecorderFactory, MessageEventRecorder> of) {
        List<MessageEventRecorder> all = new ArrayList<>();
        each(this.factories, "of", (one) -> all.add(of.apply(one)));
        all.removeIf(MessageEventRecorder.NONE::equals);
        return all.isEmpty() ? MessageEventRecorder.NONE : new Isolating(all);
    }

    @Override
    public void forget(QueueName queue, String listenerId) {
        each(this.factories, "forget", (one) -> one.forget(queue, listenerId));
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
        each(this.factories, "called", (one) -> one.called(script, nanos, answered));
    }

    private <T> void each(List<T> all, String event, Consumer<T> notification) {
        for (T one : all) {
            try {
                notification.accept(one);
            }
            catch (Throwable ex) { // an error too must not end what is recorded
                failed(event, ex);
            }
        }
    }

    private void failed(String event, Throwable failure) {
        if (this.warned.compareAndSet(false, true)) {
            this.log.execute(() -> logger
                .warn("A listener of the event '{}' failed, so it may not be counted; further failures are logged at "
                        + "debug level", event, failure));
        }
        else {
            logger.debug("A listener of the event '{}' failed", event, failure);
        }
    }

    private final class Isolating implements MessageEventRecorder {

        private final List<MessageEventRecorder> all;

        Isolating(List<MessageEventRecorder> all) {
            this.all = all;
        }

        private void each(String event, Consumer<MessageEventRecorder> notification) {
            FailureIsolatingEventRecorderFactory.this.each(this.all, event, notification);
        }

        @Override
        public void sent(SendOutcome outcome) {
            each("sent", (one) -> one.sent(outcome));
        }

        @Override
        public void sendFailed() {
            each("sendFailed", MessageEventRecorder::sendFailed);
        }

        @Override
        public void occurrencesSkipped(SkipReason reason, long occurrences) {
            each("occurrencesSkipped", (one) -> one.occurrencesSkipped(reason, occurrences));
        }

        @Override
        public void cancelled() {
            each("cancelled", MessageEventRecorder::cancelled);
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
            each("retried", MessageEventRecorder::retried);
        }

        @Override
        public void deadLettered() {
            each("deadLettered", MessageEventRecorder::deadLettered);
        }

        @Override
        public void expired(long messages) {
            each("expired", (one) -> one.expired(messages));
        }

        @Override
        public void leaseLost() {
            each("leaseLost", MessageEventRecorder::leaseLost);
        }

        @Override
        public void redelivered() {
            each("redelivered", MessageEventRecorder::redelivered);
        }

    }

}
