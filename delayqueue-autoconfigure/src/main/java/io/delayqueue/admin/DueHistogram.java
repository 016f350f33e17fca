package io.delayqueue.admin;

import java.time.Instant;
import java.util.List;

/**
 * Holds when the waiting messages of a queue become due: in the next hour by minute, in
 * the next day by hour, in the next two weeks by 24 hours. The three series begin at the
 * current minute or hour, so they overlap: a message of the next hour is in each of them.
 *
 * @param queue the queue
 * @param now the store's time of the answer
 * @param overdue messages that are due; in no bin
 * @param minutes 60 minutes, each from its beginning on the clock; the first is the
 * current one
 * @param hours 24 hours, each from its beginning in UTC; the first is the current one
 * @param days 14 spans of 24 hours, from the beginning of the current hour
 * @param later messages that are due after the last day
 * @param waitingInGroup messages that wait in their group, regardless of their due time
 * @see DelayQueueInspector#dueHistogram
 */
public record DueHistogram(String queue, Instant now, long overdue, List<Bin> minutes, List<Bin> hours, List<Bin> days,
        long later, long waitingInGroup) {

    public DueHistogram {
        minutes = List.copyOf(minutes);
        hours = List.copyOf(hours);
        days = List.copyOf(days);
    }

    /**
     * Holds the number of messages that become due within a span.
     *
     * @param from the beginning, inclusive
     * @param until the end, exclusive
     * @param count the number of messages
     */
    public record Bin(Instant from, Instant until, long count) {
    }

}
