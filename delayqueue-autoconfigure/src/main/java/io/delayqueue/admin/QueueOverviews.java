package io.delayqueue.admin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueException;

/**
 * Holds the overviews of many queues, and the failures of those that could not be read.
 *
 * @param overviews the overviews of the queues that could be read
 * @param failures the failures by queue, in the order of the request
 * @see DelayQueueInspector#overviews
 */
public record QueueOverviews(List<QueueOverview> overviews, Map<String, DelayQueueException> failures) {

    public QueueOverviews {
        overviews = List.copyOf(overviews);
        failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
    }

}
