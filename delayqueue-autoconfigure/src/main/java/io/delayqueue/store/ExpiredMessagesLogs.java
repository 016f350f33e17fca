package io.delayqueue.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Holds an {@link ExpiredMessagesLog} for each queue, for callers that claim from any
 * queue.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class ExpiredMessagesLogs {

    /**
     * Bounds the memory, as callers may invent queue names. Beyond it some counts are
     * reported early.
     */
    private static final int MAX_QUEUES = 10_000;

    private final Map<QueueName, ExpiredMessagesLog> queues = new ConcurrentHashMap<>();

    private final LongSupplier nanoTime;

    public ExpiredMessagesLogs(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Counts the messages that a claim found expired.
     * @return the line to log; {@code null} if there is none or the last one is too
     * recent
     */
    public @Nullable String add(QueueName queue, ClaimResult claim, ExpiryPolicy policy) {
        if (claim.expired() > 0 && this.queues.size() >= MAX_QUEUES) {
            this.queues.clear();
        }
        ExpiredMessagesLog summary = (claim.expired() > 0)
                ? this.queues.computeIfAbsent(queue, (name) -> new ExpiredMessagesLog()) : this.queues.get(queue);
        if (summary == null) {
            return null;
        }
        summary.add(claim.expired());
        summary.note(claim.deadLettered());
        long reported = summary.take(this.nanoTime.getAsLong());
        return (reported > 0) ? summary.text(reported, queue, policy) : null;
    }

}
