package io.delayqueue.admin;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds the status of a process that handles messages, as it reported a few seconds ago.
 * Times are on the store's clock.
 *
 * @param id identifies this run of the process
 * @param application the name of the application
 * @param host the host that it runs on
 * @param pid its process id
 * @param version the version of this library; {@code null} if not known
 * @param startedAt when its listeners started
 * @param seenAt when it reported
 * @param listeners its listeners
 * @see DelayQueueInspector#nodes
 */
public record NodeStatus(String id, String application, String host, long pid, @Nullable String version,
        Instant startedAt, Instant seenAt, List<ListenerStatus> listeners) {

    public NodeStatus {
        listeners = List.copyOf(listeners);
    }

    /**
     * Holds the status of a listener of a process.
     *
     * @param id its id
     * @param queues the queues that it listens to
     * @param concurrency maximum number of messages of each queue that it handles
     * concurrently
     * @param free its free capacity, over all queues
     * @param running whether it has been started and not stopped; a paused listener is
     * running
     * @param paused whether the listener is paused in this process; does not include a
     * pause of the queue
     * @param outage why the listener handles nothing although it is running, for example
     * because the broker that it forwards to is away; {@code null} for no such reason
     */
    public record ListenerStatus(String id, List<String> queues, int concurrency, int free, boolean running,
            boolean paused, @Nullable String outage) {

        public ListenerStatus {
            queues = List.copyOf(queues);
        }

    }

}
