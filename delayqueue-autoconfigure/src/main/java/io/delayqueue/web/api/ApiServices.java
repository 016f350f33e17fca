package io.delayqueue.web.api;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.web.consume.HttpConsumerSupport;
import org.jspecify.annotations.Nullable;

/**
 * What the API serves.
 *
 * @param operations sends and steers
 * @param inspector looks at queues; {@code null} for a store that has none
 * @param consumers hands out messages
 * @param consumed is told of which queues
 */
public record ApiServices(DelayQueueOperations operations, @Nullable DelayQueueInspector inspector,
        HttpConsumerSupport consumers, RemoteConsumerQueues consumed) {
}
