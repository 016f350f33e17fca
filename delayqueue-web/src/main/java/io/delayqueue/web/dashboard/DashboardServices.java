package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.ServerMonitor;
import org.jspecify.annotations.Nullable;

/**
 * Holds the beans and times that the routes of the dashboard use.
 *
 * @param operations changes queues and messages
 * @param inspector reads queues
 * @param nodes changes nodes; {@code null} for a store that does not support it
 * @param history reads the history of messages; {@code null} if none is recorded
 * @param journal restores messages; {@code null} if the application has no journal
 * @param journalStatus the problems of this node's journal; {@code null} if the
 * application has none
 * @param server checks the server of the store
 * @param listeners the listeners of this node; returns {@code null} if it has none
 * @param consumed the queues that are consumed through this node without a listener
 * @param commandTimeout longest time to wait for one call of the store
 * @param latenessObjective lateness up to which a queue counts as on time
 */
public record DashboardServices(DelayQueueOperations operations, DelayQueueInspector inspector,
        @Nullable NodeOperations nodes, @Nullable MessageHistory history, @Nullable JournalOperations journal,
        @Nullable JournalStatus journalStatus, ServerMonitor server,
        Supplier<@Nullable DelayedListenerRegistry> listeners, RemoteConsumerQueues consumed, Duration commandTimeout,
        Duration latenessObjective) {
}
