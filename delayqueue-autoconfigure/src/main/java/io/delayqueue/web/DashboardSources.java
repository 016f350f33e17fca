package io.delayqueue.web;

import java.time.Duration;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.engine.ConsumedQueues;
import io.delayqueue.engine.ServerWatch;
import io.delayqueue.listener.DelayedListenerRegistry;
import org.jspecify.annotations.Nullable;

/**
 * What the dashboard shows and acts on.
 *
 * @param operations acts on queues and messages
 * @param inspector tells of queues as a whole
 * @param server tells what is wrong with the server that messages are kept on
 * @param listeners the listeners of this node; answers {@code null} if it has none
 * @param consumed the queues that are consumed through this node without one
 * @param commandTimeout longest time to wait for one call of the store
 */
public record DashboardSources(DelayQueueOperations operations, DelayQueueInspector inspector, ServerWatch server,
        Supplier<@Nullable DelayedListenerRegistry> listeners, ConsumedQueues consumed, Duration commandTimeout) {
}
