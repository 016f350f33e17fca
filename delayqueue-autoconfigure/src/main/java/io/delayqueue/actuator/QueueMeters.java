package io.delayqueue.actuator;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;
import io.delayqueue.store.MessageEventRecorder;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counts the events of one queue. All counters exist from the first use on, so that their
 * absence never means zero. Thread-safe.
 */
final class QueueMeters implements MessageEventRecorder {

    private final Map<SendOutcome, Counter> sent = new EnumMap<>(SendOutcome.class);

    /** Registered with the first skip, as most queues have no schedules. */
    private final Function<SkipReason, Counter> skipped;

    private final Counter sendFailures;

    private final Counter cancelled;

    private final Counter retried;

    private final Counter deadLettered;

    private final Counter expired;

    private final Counter leaseLost;

    private final Counter redelivered;

    QueueMeters(MeterRegistry registry, String queue) {
        for (SendOutcome outcome : SendOutcome.values()) {
            if (outcome != SendOutcome.DEFERRED && outcome != SendOutcome.RECORDED) {
                this.sent.put(outcome,
                        DelayQueueMeter.SENT.counter(queue)
                            .tag(DelayQueueMeter.OUTCOME, DelayQueueMeter.tagOf(outcome))
                            .register(registry));
            }
        }
        this.skipped = (reason) -> DelayQueueMeter.SCHEDULES_SKIPPED.counter(queue)
            .tag(DelayQueueMeter.REASON, DelayQueueMeter.tagOf(reason))
            .register(registry);
        this.sendFailures = DelayQueueMeter.SEND_FAILURES.counter(queue).register(registry);
        this.cancelled = DelayQueueMeter.CANCELLED.counter(queue).register(registry);
        this.retried = DelayQueueMeter.RETRIED.counter(queue).register(registry);
        this.deadLettered = DelayQueueMeter.DEAD_LETTERED.counter(queue).register(registry);
        this.expired = DelayQueueMeter.EXPIRED.counter(queue).register(registry);
        this.leaseLost = DelayQueueMeter.LEASE_LOST.counter(queue).register(registry);
        this.redelivered = DelayQueueMeter.REDELIVERED.counter(queue).register(registry);
    }

    @Override
    public void sent(SendOutcome outcome) {
        Counter counter = this.sent.get(outcome);
        if (counter != null) {
            counter.increment();
        }
    }

    @Override
    public void occurrencesSkipped(SkipReason reason, long occurrences) {
        this.skipped.apply(reason).increment((double) occurrences);
    }

    @Override
    public void sendFailed() {
        this.sendFailures.increment();
    }

    @Override
    public void cancelled() {
        this.cancelled.increment();
    }

    @Override
    public void retried() {
        this.retried.increment();
    }

    @Override
    public void deadLettered() {
        this.deadLettered.increment();
    }

    @Override
    public void expired(long messages) {
        this.expired.increment((double) messages);
    }

    @Override
    public void leaseLost() {
        this.leaseLost.increment();
    }

    @Override
    public void redelivered() {
        this.redelivered.increment();
    }

}
