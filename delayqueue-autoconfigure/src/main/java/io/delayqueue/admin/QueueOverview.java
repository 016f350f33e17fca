package io.delayqueue.admin;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds the counts and times of a queue at one moment, for operators.
 *
 * @param queue the queue
 * @param partitions number of partitions that may hold messages of it
 * @param scheduled messages that wait, including {@code due} and {@code waitingInGroup}
 * @param due scheduled messages that are due and not claimed; only the first of each
 * group counts
 * @param waitingInGroup scheduled messages that wait in their group
 * @param leased in-flight messages
 * @param lapsed lapses that no claim has found yet; they are also counted as scheduled
 * and due
 * @param dead dead letters
 * @param nextDueAt the earliest due time, considering only the first message of each
 * group; {@code null} if none waits
 * @param oldestDue time since the earliest due time; {@code null} if no message is due
 * @param paused whether the queue is paused, in all of its partitions
 * @param pausedUntil when the pause ends by itself; {@code null} if it does not, or the
 * queue is not paused
 * @param now the store's time of the answer
 * @see DelayQueueInspector
 */
public record QueueOverview(String queue, int partitions, long scheduled, long due, long waitingInGroup, long leased,
        long lapsed, long dead, @Nullable Instant nextDueAt, @Nullable Duration oldestDue, boolean paused,
        @Nullable Instant pausedUntil, Instant now) {
}
