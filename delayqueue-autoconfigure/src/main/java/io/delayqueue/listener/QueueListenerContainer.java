package io.delayqueue.listener;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Collectors;

import io.delayqueue.listener.poll.ListenerCounters;
import io.delayqueue.listener.poll.ListenerEndpoint;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.PartitionPollLoops;
import io.delayqueue.listener.poll.PollLoopStatus;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the loops of one listener.
 * <p>
 * <strong>Threads.</strong> Any thread makes life-cycle calls. They exclude each other,
 * as they change several fields together; none blocks inside.
 */
final class QueueListenerContainer implements ListenerContainer {

    private static final Logger logger = LoggerFactory.getLogger(QueueListenerContainer.class);

    private final String id;

    private final List<ListenerEndpoint> queues;

    private final ListenerCounters counters;

    private boolean wanted;

    private boolean paused;

    private @Nullable ListenerRun run;

    private List<PartitionPollLoops> loops = List.of();

    /**
     * Creates a container that starts with the application if all its queues do.
     * @param queues at least one
     */
    QueueListenerContainer(String id, List<ListenerEndpoint> queues, ListenerCounters counters) {
        this.id = id;
        this.queues = List.copyOf(queues);
        this.counters = counters;
        this.wanted = queues.stream().allMatch((queue) -> queue.settings().autoStartup());
    }

    @Override
    public String id() {
        return this.id;
    }

    @Override
    public List<String> queues() {
        return this.queues.stream().map((queue) -> queue.name().value()).toList();
    }

    List<ListenerEndpoint> listenedQueues() {
        return this.queues;
    }

    /** Attaches the container to a run, and starts it unless it was stopped. */
    synchronized void attach(ListenerRun run) {
        this.run = run;
        if (this.wanted) {
            launch(run);
        }
    }

    /** Detaches the container from a run that stops. Remembers if it was started. */
    synchronized void detach() {
        this.run = null;
        this.loops = List.of();
    }

    @Override
    public synchronized void start() {
        this.wanted = true;
        if (this.run != null && this.loops.isEmpty()) {
            launch(this.run);
        }
    }

    private void launch(ListenerRun run) {
        this.loops = run.launch(this.queues, this.paused);
        ListenerSettings settings = this.queues.get(0).settings();
        logger.info("Listener '{}' started on queues {}: concurrency {}, lease {}, {}", this.id, queues(),
                settings.concurrency(), Texts.span(settings.lease()), Texts.count(settings.maxAttempts(), "attempt"));
    }

    @Override
    public synchronized void stop() {
        this.wanted = false;
        if (this.run != null && !this.loops.isEmpty()) {
            this.run.stop(this.loops);
            this.loops = List.of();
            logger.info("Listener '{}' stopped", this.id);
        }
    }

    @Override
    public synchronized void pause() {
        this.paused = true;
        this.loops.forEach((loop) -> loop.pause(true));
    }

    @Override
    public synchronized void resume() {
        this.paused = false;
        this.loops.forEach((loop) -> loop.pause(false));
    }

    @Override
    public synchronized boolean isRunning() {
        return !this.loops.isEmpty();
    }

    @Override
    public synchronized boolean isPaused() {
        return this.paused;
    }

    private synchronized List<PartitionPollLoops> running() {
        return this.loops;
    }

    @Override
    public List<PollLoopStatus> loops() {
        return running().stream().flatMap((loops) -> loops.states().stream()).toList();
    }

    @Override
    public int concurrency() {
        return this.queues.get(0).settings().concurrency();
    }

    @Override
    public Map<String, Integer> freeHandlers() {
        return running().stream()
            .collect(Collectors.toMap((loops) -> loops.name().value(), PartitionPollLoops::freeHandlers, Integer::sum));
    }

    @Override
    public Map<String, SortedMap<Long, Long>> lateness() {
        return this.queues.stream()
            .collect(Collectors.toMap((queue) -> queue.name().value(), (queue) -> queue.lateness().byMicros()));
    }

    @Override
    public ListenerStatistics statistics() {
        return this.counters.snapshot();
    }

}
