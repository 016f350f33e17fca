package io.delayqueue.listener.poll;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Holds the counters from which {@link ListenerStatistics} are read. Thread-safe.
 */
public final class ListenerCounters {

    final LongAdder handled = new LongAdder();

    final LongAdder failed = new LongAdder();

    final LongAdder retried = new LongAdder();

    final LongAdder deadLettered = new LongAdder();

    final LongAdder expired = new LongAdder();

    final LongAdder leasesLost = new LongAdder();

    final LongAdder redelivered = new LongAdder();

    final AtomicInteger running = new AtomicInteger();

    public ListenerStatistics snapshot() {
        return new ListenerStatistics(this.handled.sum(), this.failed.sum(), this.retried.sum(),
                this.deadLettered.sum(), this.expired.sum(), this.leasesLost.sum(), this.redelivered.sum(),
                this.running.get());
    }

}
