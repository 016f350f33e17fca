package io.delayqueue.admin;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A process that handles messages, as it told of itself a few seconds ago. Times are
 * those of the store.
 *
 * @param id names this run of the process
 * @param application the name of the application
 * @param host where it runs
 * @param pid its process there
 * @param version of this library; {@code null} if not known
 * @param startedAt when its worker started
 * @param seenAt when it told of itself
 * @param listeners its listeners
 */
public record NodeStatus(String id, String application, String host, long pid, @Nullable String version,
        Instant startedAt, Instant seenAt, List<ListenerStatus> listeners) {

    public NodeStatus {
        listeners = List.copyOf(listeners);
    }

    /**
     * A listener of a process.
     *
     * @param id its id
     * @param queues the queues that it listens to
     * @param concurrency most messages of each that it handles at the same time
     * @param free how many more it could handle, of all queues
     * @param running whether it has started and not been stopped; a paused one runs
     * @param paused whether it is paused there; that of the queue is not told here
     */
    public record ListenerStatus(String id, List<String> queues, int concurrency, int free, boolean running,
            boolean paused) {

        public ListenerStatus {
            queues = List.copyOf(queues);
        }

    }

}
