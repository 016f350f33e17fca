package io.delayqueue.listener;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.delayqueue.engine.Partition;
import io.delayqueue.engine.Partitions;
import org.jspecify.annotations.Nullable;

/**
 * The loops of one listener on one queue, one for each partition. The first is there from
 * the start, even while the store is away; the others come as soon as it is known that
 * they are needed. None goes before the stop: a partition that new messages do not go to
 * any more may hold older ones.
 * <p>
 * <strong>Threads.</strong> Whoever learns of partitions adds loops; any thread pauses
 * and stops. These change several fields together and exclude each other; none waits
 * inside.
 */
final class QueueLoops {

    private final ListenedQueue queue;

    private final WorkerContext context;

    private final Consumer<PollLoop> starter;

    private final Handlers handlers;

    private final Map<Partition, PollLoop> loops = new LinkedHashMap<>();

    private boolean paused;

    private boolean stopped;

    private @Nullable Runnable watch;

    /**
     * Makes loops that do not run yet.
     * @param starter starts a loop
     */
    QueueLoops(ListenedQueue queue, WorkerContext context, Consumer<PollLoop> starter) {
        this.queue = queue;
        this.context = context;
        this.starter = starter;
        this.handlers = new Handlers(queue.settings().concurrency(), context.handlerThreads(), context.nanoTime());
    }

    /** Starts the first loop, and the others when they are known. */
    void start(boolean paused) {
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

    private void cover(Partitions partitions) {
        cover(partitions.all(this.queue.name()));
    }

    private synchronized void cover(List<Partition> partitions) {
        for (Partition partition : partitions) {
            if (!this.stopped && !this.loops.containsKey(partition)) {
                start(partition);
            }
        }
    }

    /** Whoever learns of the partition next tries again if that fails. */
    private void start(Partition partition) {
        PollLoop loop = new PollLoop(this.queue.at(partition), this.context, this.handlers);
        loop.pause(this.paused);
        // First, as what it claims may tell of the partitions again.
        this.loops.put(partition, loop);
        try {
            this.starter.accept(loop);
        }
        catch (Throwable ex) {
            this.loops.remove(partition);
            this.handlers.part();
            throw ex;
        }
    }

    synchronized void pause(boolean pause) {
        this.paused = pause;
        this.loops.values().forEach((loop) -> loop.pause(pause));
    }

    /** Ends all loops, and does not wait for that. */
    synchronized void stop(Duration timeout) {
        this.stopped = true;
        if (this.watch != null) {
            this.watch.run();
        }
        this.loops.values().forEach((loop) -> loop.stop(timeout));
    }

}
