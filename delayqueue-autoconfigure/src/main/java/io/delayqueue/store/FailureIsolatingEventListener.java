package io.delayqueue.store;

import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Isolates message handling from failing event listeners: logs their exceptions, the
 * first one as a warning. Repeats the code for each event, because a lambda would be an
 * allocation per message.
 */
final class FailureIsolatingEventListener implements MessageEventListener {

    private static final Logger logger = LoggerFactory.getLogger(FailureIsolatingEventListener.class);

    private final MessageEventListener events;

    private final AtomicBoolean warned = new AtomicBoolean();

    private final BackgroundLog log = new BackgroundLog();

    FailureIsolatingEventListener(MessageEventListener events) {
        this.events = events;
    }

    @Override
    public QueueEventListener of(QueueName queue) {
        try {
            return new GuardedQueueEvents(this.events.of(queue));
        }
        catch (RuntimeException ex) {
            failed("of", ex);
            return QueueEventListener.NONE;
        }
    }

    @Override
    public QueueEventListener of(QueueName queue, String listenerId) {
        try {
            return new GuardedQueueEvents(this.events.of(queue, listenerId));
        }
        catch (RuntimeException ex) {
            failed("of", ex);
            return QueueEventListener.NONE;
        }
    }

    @Override
    public void called(String script, long nanos, boolean answered) {
        try {
            this.events.called(script, nanos, answered);
        }
        catch (RuntimeException ex) {
            failed("called", ex);
        }
    }

    private void failed(String event, RuntimeException failure) {
        if (this.warned.compareAndSet(false, true)) {
            this.log.execute(() -> logger.warn(
                    "Event '{}' could not be told and is not counted; others that fail are logged at debug level",
                    event, failure));
        }
        else {
            logger.debug("Event '{}' could not be told", event, failure);
        }
    }

    private final class GuardedQueueEvents implements QueueEventListener {

        private final QueueEventListener events;

        GuardedQueueEvents(QueueEventListener events) {
            this.events = events;
        }

        @Override
        public void sent(SendOutcome outcome) {
            try {
                this.events.sent(outcome);
            }
            catch (RuntimeException ex) {
                failed("sent", ex);
            }
        }

        @Override
        public void sendFailed() {
            try {
                this.events.sendFailed();
            }
            catch (RuntimeException ex) {
                failed("sendFailed", ex);
            }
        }

        @Override
        public void cancelled() {
            try {
                this.events.cancelled();
            }
            catch (RuntimeException ex) {
                failed("cancelled", ex);
            }
        }

        @Override
        public void started(long latenessNanos) {
            try {
                this.events.started(latenessNanos);
            }
            catch (RuntimeException ex) {
                failed("started", ex);
            }
        }

        @Override
        public void handled(HandlerOutcome outcome, long nanos) {
            try {
                this.events.handled(outcome, nanos);
            }
            catch (RuntimeException ex) {
                failed("handled", ex);
            }
        }

        @Override
        public void retried() {
            try {
                this.events.retried();
            }
            catch (RuntimeException ex) {
                failed("retried", ex);
            }
        }

        @Override
        public void died() {
            try {
                this.events.died();
            }
            catch (RuntimeException ex) {
                failed("died", ex);
            }
        }

        @Override
        public void expired(long messages) {
            try {
                this.events.expired(messages);
            }
            catch (RuntimeException ex) {
                failed("expired", ex);
            }
        }

        @Override
        public void refused() {
            try {
                this.events.refused();
            }
            catch (RuntimeException ex) {
                failed("refused", ex);
            }
        }

        @Override
        public void redelivered() {
            try {
                this.events.redelivered();
            }
            catch (RuntimeException ex) {
                failed("redelivered", ex);
            }
        }

    }

}
