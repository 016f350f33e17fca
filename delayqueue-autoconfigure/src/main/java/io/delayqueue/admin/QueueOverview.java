package io.delayqueue.admin;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What a queue held at one moment, as an operator wants to know it.
 *
 * @param queue the queue
 * @param partitions how many partitions may hold messages of it
 * @param scheduled messages that wait, the due ones and the followers included
 * @param due those of them whose time has come and that nobody has claimed yet; of each
 * group only the one whose turn it is
 * @param followers those of them that wait behind another of their group
 * @param leased messages handed to workers
 * @param lapsed leases that ran out and that nobody has noticed yet; they are counted as
 * scheduled and due
 * @param dead dead letters
 * @param nextDueAt due time of the message that is due first, of each group only the one
 * whose turn it is; {@code null} if none waits
 * @param oldestDue for how long the message that has been due longest has been so;
 * {@code null} if none is due
 * @param paused whether the queue is paused, in all of its partitions
 * @param pausedUntil when that ends by itself; {@code null} if it does not, or is not
 * paused
 * @param now the store's time when it answered
 */
public record QueueOverview(String queue, int partitions, long scheduled, long due, long followers, long leased,
        long lapsed, long dead, @Nullable Instant nextDueAt, @Nullable Duration oldestDue, boolean paused,
        @Nullable Instant pausedUntil, Instant now) {
}
