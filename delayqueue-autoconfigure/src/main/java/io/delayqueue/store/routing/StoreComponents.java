package io.delayqueue.store.routing;

import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.schedule.LocalSchedules;

/**
 * Holds the components of one store.
 *
 * @param messages changes messages
 * @param inspector reads messages
 * @param wakeUps notifies of due messages
 * @param partitions caches the layouts of queues
 * @param events receives the events of messages
 * @param registrar registers the queues in use
 * @param schedules the schedules of the queues
 */
public record StoreComponents(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
        PartitionLayouts partitions, MessageEventRecorderFactory events, QueueRegistrar registrar,
        LocalSchedules schedules) {

    /** Creates a store without event listener, queue registry and schedules. */
    public StoreComponents(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
            PartitionLayouts partitions) {
        this(messages, inspector, wakeUps, partitions, MessageEventRecorderFactory.NONE, QueueRegistrar.NONE,
                LocalSchedules.none());
    }

}
