package io.delayqueue.actuator;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.delayqueue.store.MessageEventRecorder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/**
 * Records the timers of one listener on one queue, and the queue's counters. Thread-safe.
 */
final class ListenerMeters implements MessageEventRecorder {

    private final QueueMeters queue;

    private final Timer lateness;

    private final Map<HandlerOutcome, Timer> handled = new EnumMap<>(HandlerOutcome.class);

    ListenerMeters(MeterRegistry registry, QueueMeters counters, String queue, String listener) {
        this.queue = counters;
        this.lateness = DelayQueueMeter.LATENESS.histogram(queue, listener).register(registry);
        for (HandlerOutcome outcome : HandlerOutcome.values()) {
            this.handled.put(outcome,
                    DelayQueueMeter.HANDLED.timer(queue, listener)
                        .tag(DelayQueueMeter.OUTCOME, DelayQueueMeter.tagOf(outcome))
                        .register(registry));
        }
    }

    @Override
    public void started(long latenessNanos) {
        this.lateness.record(latenessNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void handled(HandlerOutcome outcome, long nanos) {
        Timer timer = this.handled.get(outcome);
        if (timer != null) {
            timer.record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void retried() {
        this.queue.retried();
    }

    @Override
    public void deadLettered() {
        this.queue.deadLettered();
    }

    @Override
    public void expired(long messages) {
        this.queue.expired(messages);
    }

    @Override
    public void leaseLost() {
        this.queue.leaseLost();
    }

    @Override
    public void redelivered() {
        this.queue.redelivered();
    }

}
