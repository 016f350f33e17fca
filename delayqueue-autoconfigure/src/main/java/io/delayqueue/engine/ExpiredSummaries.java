package io.delayqueue.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an {@link ExpiredSummary} for each queue, for callers that claim from any queue.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class ExpiredSummaries {

    /** Names may be made up without end; then some are reported earlier. */
    private static final int MOST_QUEUES = 10_000;

    private final Map<QueueName, ExpiredSummary> queues = new ConcurrentHashMap<>();

    private final LongSupplier nanoTime;

    public ExpiredSummaries(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Counts the messages that a claim has found expired.
     * @return the line to log, {@code null} if there is none or it is too early
     */
    public @Nullable String add(QueueName queue, Claim claim, ExpiredPolicy policy) {
        if (claim.expired() > 0 && this.queues.size() >= MOST_QUEUES) {
            this.queues.clear();
        }
        ExpiredSummary summary = (claim.expired() > 0)
                ? this.queues.computeIfAbsent(queue, (name) -> new ExpiredSummary()) : this.queues.get(queue);
        if (summary == null) {
            return null;
        }
        summary.add(claim.expired());
        summary.note(claim.buried());
        long reported = summary.take(this.nanoTime.getAsLong());
        return (reported > 0) ? summary.text(reported, queue, policy) : null;
    }

}
