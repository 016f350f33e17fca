package io.delayqueue.web;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.engine.ConsumedQueues;
import org.jspecify.annotations.Nullable;

/**
 * What the API serves.
 *
 * @param operations sends and steers
 * @param inspector looks at queues; {@code null} for a store that has none
 * @param consumers hands out messages
 * @param consumed is told of which queues
 */
public record ApiPorts(DelayQueueOperations operations, @Nullable DelayQueueInspector inspector, Consumers consumers,
        ConsumedQueues consumed) {
}
