package io.delayqueue.admin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueException;

/**
 * What many queues held, as far as they could be read.
 *
 * @param overviews of the queues that could be read
 * @param failures why others could not, by queue, in the order in which they were asked
 * for
 */
public record QueueOverviews(List<QueueOverview> overviews, Map<String, DelayQueueException> failures) {

    public QueueOverviews {
        overviews = List.copyOf(overviews);
        failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
    }

}
