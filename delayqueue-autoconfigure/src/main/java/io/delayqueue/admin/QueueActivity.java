package io.delayqueue.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds what all nodes together did within the last three hours, minute by minute. It is
 * recorded every few seconds, for at most {@value #MAX_QUEUES} queues.
 *
 * @param queue the queue; {@code null} for all queues together
 * @param now the store's time of the answer
 * @param minutes {@value #MINUTES} minutes; the last one is the current one, which is not
 * over
 * @param recorded whether the queue is one of {@code queues}; {@code true} for all queues
 * together
 * @param queues the names of the queues that have minutes of their own
 * @see DelayQueueInspector#activity
 */
public record QueueActivity(@Nullable String queue, Instant now, List<Minute> minutes, boolean recorded,
        List<String> queues) {

    /** Number of minutes that are kept. */
    public static final int MINUTES = 180;

    /** Maximum number of queues that have minutes of their own. */
    public static final int MAX_QUEUES = 200;

    public QueueActivity {
        minutes = List.copyOf(minutes);
        queues = List.copyOf(queues);
    }

    /**
     * Holds a minute.
     *
     * @param from its beginning, on the store's clock
     * @param reported whether a node has reported in this minute; otherwise the counts
     * are zero because they are not known
     * @param unanswered whether a node waited for the store in this minute, and had no
     * answer
     * @param started handlers that started
     * @param failed attempts that failed
     * @param lateness how late these handlers started; {@code null} if none did
     * @param backlog the messages that the queue held; {@code null} if they were not
     * counted
     */
    public record Minute(Instant from, boolean reported, boolean unanswered, long started, long failed,
            @Nullable Lateness lateness, @Nullable Backlog backlog) {
    }

    /**
     * Holds percentiles of the lateness of handlers, of all nodes together. They are
     * estimated within the classes of a histogram. Ten minutes stand for ten minutes or
     * more.
     *
     * @param p50 half of the handlers were not later
     * @param p95 95 % of the handlers were not later
     * @param p99 99 % of the handlers were not later
     */
    public record Lateness(Duration p50, Duration p95, Duration p99) {
    }

    /**
     * Holds how many messages a queue held at one moment, each number with an error of at
     * most 1 in 4,000.
     *
     * @param due messages that were due and not claimed
     * @param leased messages in flight
     * @param scheduled messages that waited, those due included
     * @param dead dead letters
     */
    public record Backlog(long due, long leased, long scheduled, long dead) {
    }

}
