package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds the message counts of a queue at one moment.
 *
 * @param queue the queue
 * @param scheduled messages that wait, including due messages and those that wait in
 * their group
 * @param due scheduled messages that are due and not claimed; only the first of each
 * group counts
 * @param leased in-flight messages
 * @param dead dead letters
 * @param nextDueAt the earliest due time, considering only the first message of each
 * group; {@code null} if none waits
 * @see DelayQueueOperations#statistics
 */
public record QueueStatistics(String queue, long scheduled, long due, long leased, long dead,
        @Nullable Instant nextDueAt) {
}
