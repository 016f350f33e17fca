package io.delayqueue.journal;

import java.time.Duration;

/**
 * Holds the limits of this node's journal: how long it waits for Redis, how long a
 * restore may pause a queue, and whether it does maintenance.
 *
 * @param commandTimeout longest wait for an answer of the store
 * @param restorePause the longest pause of a queue that is restored; zero for none
 * @param maintenance whether this node may apply requests that other nodes have left,
 * sweep overdue messages and delete old records
 */
public record JournalSettings(Duration commandTimeout, Duration restorePause, boolean maintenance) {
}
