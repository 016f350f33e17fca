package io.delayqueue.actuator;

import io.delayqueue.journal.JournalStatus;
import io.micrometer.core.instrument.MeterRegistry;

/** Registers the meters of the journal. */
public final class JournalMeters {

    private final JournalStatus status;

    /**
     * Registers the meters. The registry refers to this object weakly, so it must be
     * kept.
     * @param status their values
     */
    public JournalMeters(MeterRegistry registry, JournalStatus status) {
        this.status = status;
        DelayQueueMeter.JOURNAL_APPLIED.counter(this, (meters) -> meters.status.applied()).register(registry);
        DelayQueueMeter.JOURNAL_RESTORED.counter(this, (meters) -> meters.status.restored()).register(registry);
        DelayQueueMeter.JOURNAL_SWEPT.counter(this, (meters) -> meters.status.swept()).register(registry);
        DelayQueueMeter.JOURNAL_ENDED.counter(this, (meters) -> meters.status.ended()).register(registry);
        DelayQueueMeter.JOURNAL_BACKLOG.gauge(this, (meters) -> meters.status.backlog()).register(registry);
        DelayQueueMeter.JOURNAL_DELAY.gauge(this, (meters) -> meters.status.delay().toMillis() / 1000.0)
            .register(registry);
    }

}
