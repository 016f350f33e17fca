package io.delayqueue.actuator;

import java.util.function.LongSupplier;

import io.micrometer.core.instrument.MeterRegistry;

/** Registers the meter of the history of messages. */
public final class HistoryMeters {

    private final LongSupplier dropped;

    /**
     * Registers the meter. The registry refers to this object weakly, so it must be kept.
     * @param dropped returns the number of transitions that were dropped
     */
    public HistoryMeters(MeterRegistry registry, LongSupplier dropped) {
        this.dropped = dropped;
        DelayQueueMeter.HISTORY_DROPPED.counter(this, (meters) -> meters.dropped.getAsLong()).register(registry);
    }

}
