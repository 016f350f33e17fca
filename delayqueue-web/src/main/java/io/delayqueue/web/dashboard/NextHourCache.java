package io.delayqueue.web.dashboard;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.delayqueue.DelayQueueException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DueHistogram;
import io.delayqueue.admin.QueueOverview;

/**
 * Caches how many messages become due in each minute of the next hour, summed over the
 * fullest queues. The store is queried at most every 15 seconds, by one thread; other
 * requests meanwhile, and after a failed read, get the previous result. It is kept for a
 * minute; after that they get an empty one. Thread-safe.
 */
final class NextHourCache {

    static final int MAX_QUEUES = 20;

    private static final long MAX_AGE = TimeUnit.SECONDS.toNanos(15);

    /** Duration of the first bin, which is over after that. */
    private static final long KEPT = TimeUnit.MINUTES.toNanos(1);

    private static final NextHour UNKNOWN = new NextHour(0, Map.of());

    private final DelayQueueInspector inspector;

    private final LongSupplier nanoTime;

    private NextHour latest = UNKNOWN;

    /** When the latest result was read. */
    private long latestAt;

    /** When the last read has ended, successful or not. */
    private long readAt;

    private boolean reading;

    NextHourCache(DelayQueueInspector inspector, LongSupplier nanoTime) {
        this.inspector = inspector;
        this.nanoTime = nanoTime;
        this.latestAt = nanoTime.getAsLong() - KEPT;
        this.readAt = nanoTime.getAsLong() - MAX_AGE;
    }

    /**
     * Returns the next hour; an empty one if it is not known.
     * @param queues the queues of which to read the fullest
     */
    NextHour get(List<QueueOverview> queues) {
        synchronized (this) {
            long now = this.nanoTime.getAsLong();
            if (this.reading || now - this.readAt < MAX_AGE) {
                return (now - this.latestAt < KEPT) ? this.latest : UNKNOWN;
            }
            this.reading = true;
        }
        NextHour read = null;
        try {
            read = read(queues);
            return read;
        }
        finally {
            synchronized (this) {
                this.reading = false;
                this.readAt = this.nanoTime.getAsLong();
                if (read != null) {
                    this.latest = read;
                    this.latestAt = this.readAt;
                }
            }
        }
    }

    /** Leaves out queues that cannot be read; the overview reports them. */
    private NextHour read(List<QueueOverview> queues) {
        Map<Instant, Long> minutes = new TreeMap<>();
        int count = 0;
        for (QueueOverview queue : fullest(queues)) {
            try {
                DueHistogram histogram = this.inspector.dueHistogram(queue.queue());
                histogram.minutes().forEach((bin) -> minutes.merge(bin.from(), bin.count(), Long::sum));
                count++;
            }
            catch (DelayQueueException ex) {
                if (count == 0) {
                    throw ex;
                }
            }
        }
        return new NextHour(count, minutes);
    }

    private static List<QueueOverview> fullest(List<QueueOverview> queues) {
        return queues.stream()
            .filter((queue) -> queue.scheduled() > 0)
            .sorted(Comparator.comparingLong(QueueOverview::scheduled).reversed())
            .limit(MAX_QUEUES)
            .toList();
    }

    /**
     * Holds the next hour.
     *
     * @param queues the number of queues that were read
     * @param minutes the number of messages by the beginning of the minute, in order
     */
    record NextHour(int queues, Map<Instant, Long> minutes) {
    }

}
