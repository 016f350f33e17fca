package io.delayqueue.admin;

import java.time.Duration;
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
 * @param handlers its running handlers
 * @param intakes what it reads from brokers
 * @see DelayQueueInspector#nodes
 */
public record NodeStatus(String id, String application, String host, long pid, @Nullable String version,
        Instant startedAt, Instant seenAt, List<ListenerStatus> listeners, RunningHandlers handlers,
        List<IntakeStatus> intakes) {

    public NodeStatus {
        listeners = List.copyOf(listeners);
        intakes = List.copyOf(intakes);
    }

    /**
     * Holds the status of a listener of a process.
     *
     * @param id its id
     * @param queues the queues that it listens to
     * @param concurrency maximum number of messages of each queue that it handles
     * concurrently
     * @param free how many more messages, or batches, it could handle, over all queues
     * @param running whether it has been started and not stopped; a paused listener is
     * running
     * @param paused whether the listener is paused in this process; does not include a
     * pause of the queue
     * @param outage why the listener handles nothing although it is running, for example
     * because the broker that it forwards to is away; {@code null} for no such reason
     * @param handled how many messages it has handled since its registration
     * @param failed how many of its handlers have failed since then
     * @param byQueue what applies to each of its queues; empty if the process runs an
     * earlier version, which takes no overrides
     */
    public record ListenerStatus(String id, List<String> queues, int concurrency, int free, boolean running,
            boolean paused, @Nullable String outage, long handled, long failed, List<QueueStatus> byQueue) {

        public ListenerStatus {
            queues = List.copyOf(queues);
            byQueue = List.copyOf(byQueue);
        }

        /**
         * Returns whether it claims messages of the queue: it runs, and is not paused for
         * it in this process. Does not consider a pause of the queue.
         */
        public boolean consumes(String queue) {
            return this.running && !this.paused && this.queues.contains(queue)
                    && this.byQueue.stream().noneMatch((status) -> status.queue().equals(queue) && status.isPaused());
        }

    }

    /**
     * Holds what applies to one queue of a listener.
     *
     * @param queue the queue
     * @param concurrency maximum number of messages, or of batches, that are handled
     * concurrently
     * @param configured the concurrency by configuration
     * @param free how many more messages, or batches, could be handled now
     * @param override the override in force; {@code null} for none
     */
    public record QueueStatus(String queue, int concurrency, int configured, int free,
            @Nullable ListenerOverride override) {

        /** Returns whether the override in force pauses the listener for the queue. */
        public boolean isPaused() {
            return this.override != null && this.override.paused();
        }

    }

    /**
     * Holds the running handlers of a process.
     *
     * @param total their number
     * @param overdue the number of those that are overdue
     * @param longest those that run longest, the longest first: at most 20, and as many
     * as fit in the report
     */
    public record RunningHandlers(int total, int overdue, List<RunningHandler> longest) {

        /** No running handlers. */
        public static final RunningHandlers NONE = new RunningHandlers(0, 0, List.of());

        public RunningHandlers {
            longest = List.copyOf(longest);
        }

    }

    /**
     * Holds a running handler.
     *
     * @param listener the id of its listener
     * @param queue the queue
     * @param id the id of its message, of a batch that of the first one
     * @param messages the number of its messages
     * @param attempt the number of the attempt, from 1
     * @param runningFor how long it has run
     * @param overdue whether it runs longer than its timeout or, if it has none, than
     * {@code delayqueue.listener.overdue-after}
     */
    public record RunningHandler(String listener, String queue, String id, int messages, int attempt,
            Duration runningFor, boolean overdue) {
    }

    /**
     * Holds the status of an intake, which schedules the messages of a broker. The counts
     * are those since the process started.
     *
     * @param source the broker and its topic or queue, such as {@code kafka:orders}
     * @param queue the queue in which the messages are scheduled
     * @param running whether it has been started, and has neither ended nor been stopped
     * @param problem why nothing is scheduled although it was started, and for how long;
     * {@code null} for no reason that has lasted more than ten seconds
     * @param scheduled how many messages were stored
     * @param kept how many were not stored, as the queue held a message of their id
     * @param skipped how many had no header for a delay, and were left to other consumers
     * @param invalid how many could never be scheduled
     */
    public record IntakeStatus(String source, String queue, boolean running, @Nullable String problem, long scheduled,
            long kept, long skipped, long invalid) {
    }

}
