package io.delayqueue.web;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.QueueOverview;
import io.delayqueue.QueuePage;
import org.jspecify.annotations.Nullable;

/**
 * All queues at one moment. However many people look, Redis is asked at most once a
 * second.
 * <p>
 * <strong>Threads.</strong> Those of requests. While one of them asks the others wait for
 * its answer, as they would for their own.
 */
final class Glance {

    private static final long KEPT = TimeUnit.SECONDS.toNanos(1);

    private final DelayQueueInspector inspector;

    private final LongSupplier nanoTime;

    private final TroubleFinder troubles;

    private @Nullable Sight last;

    private long at;

    Glance(DelayQueueInspector inspector, LongSupplier nanoTime) {
        this.inspector = inspector;
        this.nanoTime = nanoTime;
        this.troubles = new TroubleFinder();
    }

    synchronized Sight look() {
        Sight known = this.last;
        if (known != null && this.nanoTime.getAsLong() - this.at < KEPT) {
            return known;
        }
        QueuePage page = this.inspector.queues(null, DelayQueueInspector.MOST_QUEUES);
        List<QueueOverview> queues = this.inspector.overviews(page.queues());
        long nanos = this.nanoTime.getAsLong();
        Instant now = queues.stream().map(QueueOverview::now).max(Instant::compareTo).orElseGet(() -> estimate(nanos));
        Sight sight = new Sight(queues, page.nextCursor() != null, now,
                this.troubles.find(queues, this.inspector.nodes(), new TroubleFinder.Moment(now, nanos)));
        this.last = sight;
        this.at = nanos;
        return sight;
    }

    /** Without queues there is nobody to ask; the page needs some time to begin with. */
    private Instant estimate(long nanos) {
        return (this.last != null) ? this.last.now().plusNanos(nanos - this.at) : Instant.EPOCH;
    }

    /**
     * What was seen.
     *
     * @param queues the queues, by name
     * @param more whether there are more than these
     * @param now the time of Redis
     * @param troubles what is wrong
     */
    record Sight(List<QueueOverview> queues, boolean more, Instant now, List<Trouble> troubles) {
    }

}
