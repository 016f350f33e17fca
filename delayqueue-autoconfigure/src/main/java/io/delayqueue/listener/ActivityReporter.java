package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports what the listeners of this node did since the last report, by queue. A report
 * without an answer is sent again unchanged, so the store adds it once; what happens
 * meanwhile follows in the next one. Nothing depends on it, so failures are only logged
 * at debug level.
 * <p>
 * <strong>Threads.</strong> Any; blocks only if the store does. The lock guards the
 * fields, and is not held while the store is called.
 */
public final class ActivityReporter {

    /** Time after which a queue without handler starts is reported again. */
    static final Duration REMINDER = Duration.ofMinutes(5);

    private static final Logger logger = LoggerFactory.getLogger(ActivityReporter.class);

    private final ActivityStore store;

    private final String node = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX);

    private final Supplier<? extends Collection<? extends ListenerContainer>> listeners;

    private final BacklogCounter backlogs;

    private final LongSupplier nanoTime;

    /** The counts of the listeners at the last report, by queue. */
    private final Map<String, long[]> counted = new HashMap<>();

    /** When a queue was reported last, and whether it got a place. */
    private final Map<String, Reported> reported = new HashMap<>();

    private @Nullable ActivityReport pending;

    private long number;

    private boolean sending;

    /**
     * The counts of which queues were left for the next report. A later count would
     * contain more of those that were reported, which would displace the others again.
     */
    private @Nullable Map<String, long[]> round;

    /** When the first report was sent that the store did not answer. */
    private @Nullable Long unansweredSince;

    /**
     * Creates a reporter that has not reported yet.
     * @param listeners returns the listeners of the node, called for each report
     * @param backlogs counts messages when the store asks this node to
     */
    public ActivityReporter(ActivityStore store, Supplier<? extends Collection<? extends ListenerContainer>> listeners,
            BacklogCounter backlogs, LongSupplier nanoTime) {
        this.store = store;
        this.listeners = listeners;
        this.backlogs = backlogs;
        this.nanoTime = nanoTime;
    }

    /**
     * Sends a report, also an empty one: it shows that the node runs, and finds out
     * whether the store answers.
     */
    public void report() {
        long begun = this.nanoTime.getAsLong();
        ActivityReport report = next(begun);
        if (report != null) {
            StoreFutures.send(() -> this.store.report(report))
                .whenComplete((reply, failure) -> complete(report, reply, failure, begun));
        }
    }

    private synchronized @Nullable ActivityReport next(long now) {
        if (this.sending) {
            return null;
        }
        ActivityReport report = this.pending;
        if (report == null) {
            this.number++;
            report = new ActivityReport(this.node, this.number, Duration.ZERO, changes(now));
            this.pending = report;
        }
        this.sending = true;
        return (this.unansweredSince != null)
                ? report.unansweredFor(Duration.ofNanos(Math.max(1, now - this.unansweredSince))) : report;
    }

    private void complete(ActivityReport report, ActivityStore.@Nullable Reply reply, @Nullable Throwable failure,
            long begun) {
        boolean continues;
        synchronized (this) {
            this.sending = false;
            continues = reply != null && this.round != null;
            if (reply != null) {
                this.pending = null;
                this.unansweredSince = null;
                report.counts().keySet().forEach((queue) -> this.reported.put(queue, new Reported(begun, true)));
                reply.leftOut().forEach((queue) -> this.reported.put(queue, new Reported(begun, false)));
            }
            else if (this.unansweredSince == null && isUnanswered(failure)) {
                this.unansweredSince = begun;
            }
        }
        if (failure != null) {
            logger.debug("Cannot report the activity of this node; the same report is repeated in a few seconds",
                    failure);
        }
        else if (reply != null && !reply.toCount().isEmpty()) {
            count(reply.now(), reply.toCount());
        }
        if (continues) {
            report();
        }
    }

    private static boolean isUnanswered(@Nullable Throwable failure) {
        return failure != null && StoreFailures.unwrap(failure) instanceof StoreUnavailableException;
    }

    private void count(Instant minute, List<String> queues) {
        this.backlogs.count(queues)
            .thenCompose((counts) -> this.store.record(minute, counts, counts.size() == queues.size()))
            .exceptionally((failure) -> {
                logger.debug("Cannot record how many messages the queues hold; another node may, or this one in 20 s",
                        failure);
                return null;
            });
    }

    /** Returns what to report, and remembers it. */
    private Map<String, long[]> changes(long now) {
        Map<String, long[]> changes = new LinkedHashMap<>();
        long[] others = new long[ActivityReport.FIELDS];
        Map<String, long[]> counts = (this.round != null) ? this.round : counts();
        this.round = null;
        counts.forEach((queue, current) -> {
            Reported last = this.reported.get(queue);
            long[] change = difference(current, this.counted.get(queue));
            if (last == null || now - last.at >= REMINDER.toNanos() || (last.hasPlace && isAny(change))) {
                if (changes.size() >= ActivityReport.MAX_QUEUES) {
                    this.round = counts;
                    return;
                }
                changes.put(queue, change);
            }
            else {
                Arrays.setAll(others, (field) -> others[field] + change[field]);
            }
            this.counted.put(queue, current);
        });
        if (isAny(others)) {
            changes.put(ActivityReport.OTHERS, others);
        }
        this.counted.keySet().retainAll(counts.keySet());
        this.reported.keySet().retainAll(counts.keySet());
        return changes;
    }

    private static boolean isAny(long[] counts) {
        return Arrays.stream(counts).anyMatch((count) -> count > 0);
    }

    private Map<String, long[]> counts() {
        Map<String, long[]> counts = new LinkedHashMap<>();
        this.listeners.get().forEach((listener) -> {
            listener.latenessClasses().forEach((queue, starts) -> {
                long[] sum = counts.computeIfAbsent(queue, (name) -> new long[ActivityReport.FIELDS]);
                for (int i = 0; i < starts.length; i++) {
                    sum[i] += starts[i];
                }
            });
            listener.failures()
                .forEach((queue, failed) -> counts.computeIfAbsent(queue,
                        (name) -> new long[ActivityReport.FIELDS])[ActivityReport.FAILED] += failed);
        });
        return counts;
    }

    /** Returns zeros where counts have decreased, as a listener was removed. */
    private static long[] difference(long[] current, long @Nullable [] before) {
        long[] difference = current.clone();
        if (before != null) {
            Arrays.setAll(difference, (field) -> Math.max(0, current[field] - before[field]));
        }
        return difference;
    }

    /**
     * Holds when a queue was reported, by {@code nanoTime}, and whether it has a place.
     */
    private record Reported(long at, boolean hasPlace) {
    }

}
