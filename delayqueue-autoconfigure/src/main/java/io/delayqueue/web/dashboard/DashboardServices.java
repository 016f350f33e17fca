package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.ServerMonitor;
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
public record DashboardServices(DelayQueueOperations operations, DelayQueueInspector inspector, ServerMonitor server,
        Supplier<@Nullable DelayedListenerRegistry> listeners, RemoteConsumerQueues consumed, Duration commandTimeout) {
}
