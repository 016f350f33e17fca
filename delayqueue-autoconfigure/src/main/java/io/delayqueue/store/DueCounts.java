package io.delayqueue.store;

import java.time.Instant;
import java.util.List;

/**
 * Holds how many messages of a partition are due until given times.
 *
 * @param now the time on its master
 * @param due messages that are due
 * @param until for each time, how many are due now or until then, inclusive
 * @param scheduled messages that wait, except those that wait in their group
 * @param waitingInGroup messages that wait in their group
 */
public record DueCounts(Instant now, long due, List<Long> until, long scheduled, long waitingInGroup) {
}
