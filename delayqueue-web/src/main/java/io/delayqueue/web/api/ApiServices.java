package io.delayqueue.web.api;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.web.consume.HttpConsumerServices;
import org.jspecify.annotations.Nullable;

/**
 * Bundles the beans that the routes of the HTTP API call.
 *
 * @param operations sends and manages messages
 * @param inspector reads queues; {@code null} for a store that has none
 * @param nodes changes nodes; {@code null} for a store that does not support it
 * @param history reads the history of messages; {@code null} if none is recorded
 * @param journal restores messages; {@code null} if the application has no journal
 * @param consumers claims and settles messages
 * @param consumed records the queues that are consumed over HTTP
 */
public record ApiServices(DelayQueueOperations operations, @Nullable DelayQueueInspector inspector,
        @Nullable NodeOperations nodes, @Nullable MessageHistory history, @Nullable JournalOperations journal,
        HttpConsumerServices consumers, RemoteConsumerQueues consumed) {
}
