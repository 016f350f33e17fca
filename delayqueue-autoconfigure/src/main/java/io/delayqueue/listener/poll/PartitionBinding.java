package io.delayqueue.listener.poll;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.ErrorDecision;
import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ExpiredMessagesLog;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.Partition;

/**
 * Connects one listener to one partition of a queue: holds its settings and handlers,
 * counts its events and publishes them.
 *
 * @param partition the partition that is polled
 * @param errorHandler decides how a message is settled after a failed attempt
 * @param counters the listener's counts of the queue
 * @param events receives the same events, by queue
 * @param lateness how late its handlers began, on all partitions of the queue
 * @param expirations counts expired messages of all partitions, for the log
 */
public record PartitionBinding(String listenerId, Partition partition, ListenerSettings settings,
        MessageHandler handler, DelayedListenerErrorHandler errorHandler, ListenerCounters counters,
        MessageEventRecorder events, LatenessHistogram lateness, ExpiredMessagesLog expirations) {

    private static final DelayedListenerErrorHandler STANDARD = (delivery, error) -> ErrorDecision.standard();

    public PartitionBinding(String listenerId, Partition partition, ListenerSettings settings, MessageHandler handler,
            ListenerCounters counters, MessageEventRecorder events) {
        this(listenerId, partition, settings, handler, STANDARD, counters, events, new LatenessHistogram(),
                new ExpiredMessagesLog());
    }

    /** Returns the same listener with an error handler. */
    public PartitionBinding with(DelayedListenerErrorHandler errorHandler) {
        return new PartitionBinding(this.listenerId, this.partition, this.settings, this.handler, errorHandler,
                this.counters, this.events, this.lateness, this.expirations);
    }

    /** Returns the same listener on another partition of the queue. */
    public PartitionBinding at(Partition other) {
        return new PartitionBinding(this.listenerId, other, this.settings, this.handler, this.errorHandler,
                this.counters, this.events, this.lateness, this.expirations);
    }

    public QueueName queue() {
        return this.partition.queue();
    }

    void started(long latenessNanos) {
        this.lateness.add(latenessNanos);
        this.events.started(latenessNanos);
    }

    void handled(MessageEventRecorder.HandlerOutcome outcome, long nanos) {
        (outcome == MessageEventRecorder.HandlerOutcome.SUCCESS ? this.counters.handled : this.counters.failed)
            .increment();
        this.events.handled(outcome, nanos);
    }

    void retried() {
        this.counters.retried.increment();
        this.events.retried();
    }

    void deadLettered() {
        this.counters.deadLettered.increment();
        this.events.deadLettered();
    }

    void expired(long messages) {
        if (messages > 0) {
            this.counters.expired.add(messages);
            this.expirations.add(messages);
            this.events.expired(messages);
        }
    }

    void leaseLost() {
        this.counters.leasesLost.increment();
        this.events.leaseLost();
    }

    void redelivered() {
        this.counters.redelivered.increment();
        this.events.redelivered();
    }

}
