package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * How many messages a queue held at one moment.
 *
 * @param queue the queue
 * @param scheduled messages that wait, the due ones included, and those that wait behind
 * another of their group
 * @param due those of them whose time has come and that nobody has claimed yet; of each
 * group only the one whose turn it is
 * @param leased messages handed to workers
 * @param dead dead letters
 * @param nextDueAt due time of the message that is due first, of each group only the one
 * whose turn it is; {@code null} if none waits
 */
public record QueueStatistics(String queue, long scheduled, long due, long leased, long dead,
        @Nullable Instant nextDueAt) {
}
