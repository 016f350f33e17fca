package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import org.jspecify.annotations.Nullable;

/**
 * Runs the loops of one listener on one queue, one for each partition. The first runs
 * from the start, even while the store is unavailable; the others are added once their
 * partitions are known. Loops run until the stop: a partition that no longer receives new
 * messages may hold older ones.
 * <p>
 * <strong>Threads.</strong> Any thread that learns of partitions adds loops; any thread
 * pauses and stops. These operations exclude each other, as they change several fields
 * together; none blocks inside.
 */
public final class PartitionPollLoops {

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final Consumer<PollLoop> starter;

    private final HandlerPermits handlers;

    private final Map<Partition, PollLoop> loops = new LinkedHashMap<>();

    private boolean paused;

    private boolean stopped;

    private @Nullable Runnable watch;

    /**
     * Creates loops that do not run yet.
     * @param starter starts a loop
     */
    public PartitionPollLoops(ListenerEndpoint queue, ListenerRuntime context, Consumer<PollLoop> starter) {
        this.queue = queue;
        this.context = context;
        this.starter = starter;
        this.handlers = new HandlerPermits(queue.settings().concurrency(), context.threads(), context.nanoTime());
    }

    /** Starts the first loop now, and the others once their partitions are known. */
    public void start(boolean paused) {
        pause(paused);
        cover(List.of(Partition.first(this.queue.name())));
        Runnable watch = this.context.partitions().watch(this.queue.name(), this::cover);
        boolean late;
        synchronized (this) {
            this.watch = watch;
            late = this.stopped;
        }
        if (late) {
            watch.run();
        }
    }

    private void cover(PartitionLayout partitions) {
        cover(partitions.all(this.queue.name()));
    }

    /** Starts loops outside the lock, as their turns would block other threads. */
    private void cover(List<Partition> partitions) {
        List<PollLoop> added = added(partitions);
        int started = 0;
        try {
            for (PollLoop loop : added) {
                this.starter.accept(loop);
                started++;
            }
        }
        finally {
            // The next caller that learns of these partitions retries.
            remove(added.subList(started, added.size()));
        }
    }

    public QueueName name() {
        return this.queue.name();
    }

    /** Returns the current status of the loops. */
    public synchronized List<PollLoopStatus> states() {
        return this.loops.entrySet()
            .stream()
            .map((loop) -> new PollLoopStatus(loop.getKey(), loop.getValue().silence(),
                    this.context.settings().safetyPoll()))
            .toList();
    }

    public int freeHandlers() {
        return this.handlers.idle();
    }

    private synchronized List<PollLoop> added(List<Partition> partitions) {
        List<PollLoop> added = new ArrayList<>();
        for (Partition partition : partitions) {
            if (!this.stopped && !this.loops.containsKey(partition)) {
                PollLoop loop = new PollLoop(this.queue.at(partition), this.context, this.handlers);
                loop.pause(this.paused);
                this.loops.put(partition, loop);
                added.add(loop);
            }
        }
        return added;
    }

    private synchronized void remove(List<PollLoop> loops) {
        for (PollLoop loop : loops) {
            this.loops.values().remove(loop);
            this.handlers.part();
        }
    }

    public void pause(boolean pause) {
        for (PollLoop loop : paused(pause)) {
            loop.pause(pause);
        }
    }

    private synchronized List<PollLoop> paused(boolean pause) {
        this.paused = pause;
        return List.copyOf(this.loops.values());
    }

    /** Stops all loops without waiting for their end. */
    public void stop(Duration timeout) {
        for (PollLoop loop : stopped()) {
            loop.stop(timeout);
        }
    }

    private synchronized List<PollLoop> stopped() {
        this.stopped = true;
        if (this.watch != null) {
            this.watch.run();
        }
        return List.copyOf(this.loops.values());
    }

}
