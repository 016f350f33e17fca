package io.delayqueue.listener;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.HandlerConcurrencyLimiter;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.PartitionBinding;
import io.delayqueue.listener.poll.PollLoop;
import io.delayqueue.listener.poll.PollLoopContext;
import io.delayqueue.listener.poll.PollLoopStatus;
import io.delayqueue.store.Partition;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the poll loops of one listener, one for each partition of each of its queues. The
 * first loop of a queue runs from the start, even while the store is unavailable; the
 * others are added once their partitions are known. Loops run until the stop: a partition
 * that no longer receives new messages may hold older ones.
 * <p>
 * <strong>Threads.</strong> Any thread makes life-cycle calls. They exclude each other,
 * and may take long: they read layouts, run iterations of loops, and log. All other calls
 * read volatile fields, so that a health check never waits for a life-cycle call. A
 * thread that learns of partitions, often that of a connection, does not wait for one
 * either: it shares only the lock of the loops with them, under which nothing blocks.
 */
final class DefaultListenerContainer implements ListenerContainer {

    private static final Logger logger = LoggerFactory.getLogger(DefaultListenerContainer.class);

    private final String id;

    private final List<PartitionBinding> bindings;

    private boolean wanted;

    private volatile boolean paused;

    /** By queue. */
    private volatile Map<String, ListenerOverride> overrides = Map.of();

    private @Nullable ListenerRun run;

    private volatile @Nullable Loops loops;

    /**
     * Creates a container that starts with the application if all its queues do.
     * @param bindings one for each queue, at least one
     */
    DefaultListenerContainer(String id, List<PartitionBinding> bindings) {
        this.id = id;
        this.bindings = List.copyOf(bindings);
        this.wanted = bindings.stream().allMatch((binding) -> binding.settings().autoStartup());
    }

    @Override
    public String id() {
        return this.id;
    }

    @Override
    public List<String> queues() {
        return this.bindings.stream().map((binding) -> binding.queue().value()).toList();
    }

    List<PartitionBinding> bindings() {
        return this.bindings;
    }

    /** Attaches the container to a run, and starts it unless it was stopped. */
    synchronized void attach(ListenerRun run) {
        detach();
        this.run = run;
        if (this.wanted) {
            launch(run);
        }
    }

    /** Detaches the container from a run that stops. Remembers if it was started. */
    synchronized void detach() {
        this.run = null;
        stopLoops();
    }

    @Override
    public synchronized void start() {
        this.wanted = true;
        if (this.run != null && this.loops == null) {
            launch(this.run);
        }
    }

    private void launch(ListenerRun run) {
        Loops started = new Loops(run);
        this.loops = started;
        try {
            this.bindings.forEach(started::start);
        }
        catch (Throwable ex) {
            stopLoops();
            throw ex;
        }
        if (this.loops != started) {
            return; // stopped meanwhile by a call on this thread
        }
        ListenerSettings settings = this.bindings.get(0).settings();
        logger.info("Listener '{}' started on queues {}: concurrency {}, lease {}, {}", this.id, queues(),
                settings.concurrency(), Texts.span(settings.lease()), Texts.count(settings.maxAttempts(), "attempt"));
    }

    @Override
    public synchronized void stop() {
        this.wanted = false;
        if (this.loops != null) {
            stopLoops();
            logger.info("Listener '{}' stopped", this.id);
        }
    }

    private void stopLoops() {
        Loops running = this.loops;
        if (running != null) {
            running.stop();
            this.loops = null;
        }
    }

    @Override
    public synchronized void pause() {
        pause(true);
    }

    @Override
    public synchronized void resume() {
        pause(false);
    }

    private void pause(boolean pause) {
        this.paused = pause;
        applySettings();
    }

    @Override
    public void override(List<ListenerOverride> overrides) {
        this.overrides = overrides.stream()
            .collect(Collectors.toMap(ListenerOverride::queue, Function.identity(), (one, other) -> other));
        applySettings();
    }

    private void applySettings() {
        Loops running = this.loops;
        if (running != null) {
            running.applySettings();
        }
    }

    private boolean isPaused(QueueName queue) {
        ListenerOverride override = this.overrides.get(queue.value());
        return this.paused || (override != null && override.paused());
    }

    private int concurrency(PartitionBinding binding) {
        ListenerOverride override = this.overrides.get(binding.queue().value());
        Integer overridden = (override != null) ? override.concurrency() : null;
        return (overridden != null) ? overridden : binding.settings().concurrency();
    }

    @Override
    public boolean isRunning() {
        return this.loops != null;
    }

    @Override
    public boolean isPaused() {
        return this.bindings.stream().allMatch((binding) -> isPaused(binding.queue()));
    }

    @Override
    public List<QueueStatus> byQueue() {
        Map<String, Integer> free = freeHandlers();
        return this.bindings.stream().map((binding) -> {
            String queue = binding.queue().value();
            return new QueueStatus(queue, concurrency(binding), binding.settings().concurrency(),
                    free.getOrDefault(queue, 0), this.overrides.get(queue));
        }).toList();
    }

    @Override
    public List<PollLoopStatus> loops() {
        Loops running = this.loops;
        return (running != null) ? running.all().stream().map(PollLoop::status).toList() : List.of();
    }

    @Override
    public @Nullable HandlerOutage outage() {
        return isRunning() ? this.bindings.stream()
            .map((binding) -> binding.handler().outage())
            .filter(Objects::nonNull)
            .max(Comparator.comparing(HandlerOutage::age))
            .orElse(null) : null;
    }

    @Override
    public int concurrency() {
        return concurrency(this.bindings.get(0));
    }

    @Override
    public Map<String, Integer> freeHandlers() {
        Loops running = this.loops;
        return (running != null) ? running.freeHandlers() : Map.of();
    }

    @Override
    public Map<String, SortedMap<Long, Long>> lateness() {
        return this.bindings.stream()
            .collect(
                    Collectors.toMap((binding) -> binding.queue().value(), (binding) -> binding.lateness().byMicros()));
    }

    @Override
    public Map<String, long[]> latenessClasses() {
        return this.bindings.stream()
            .collect(Collectors.toMap((binding) -> binding.queue().value(), (binding) -> binding.lateness().byClass()));
    }

    @Override
    public Map<String, Long> failures() {
        return this.bindings.stream()
            .collect(Collectors.toMap((binding) -> binding.queue().value(),
                    (binding) -> binding.counters().snapshot().failed()));
    }

    @Override
    public ListenerStatistics statistics() {
        return this.bindings.stream()
            .map((binding) -> binding.counters().snapshot())
            .reduce(ListenerStatistics::plus)
            .orElseThrow();
    }

    /**
     * Holds the loops from one start of the container to its stop. Its lock guards the
     * fields, and is not held while loops are started or stopped, or run an iteration.
     */
    private final class Loops {

        private final ListenerRun run;

        private final Map<QueueName, HandlerConcurrencyLimiter> limiters = new HashMap<>();

        private final Map<Partition, PollLoop> byPartition = new LinkedHashMap<>();

        private final List<Runnable> watches = new ArrayList<>();

        private boolean stopped;

        Loops(ListenerRun run) {
            this.run = run;
        }

        /** Starts the loops of a queue, unless all were stopped meanwhile. */
        void start(PartitionBinding binding) {
            QueueName queue = binding.queue();
            PollLoopContext context = this.run.context();
            if (!add(queue, limiter(binding, context))) {
                return;
            }
            applySettings();
            this.run.add(queue);
            cover(binding, List.of(Partition.first(queue)));
            Runnable watch = context.partitions().watch(queue, (layout) -> cover(binding, layout.all(queue)));
            if (!add(watch)) {
                watch.run();
            }
        }

        private HandlerConcurrencyLimiter limiter(PartitionBinding binding, PollLoopContext context) {
            int concurrency = concurrency(binding);
            return binding.handler().isBatch()
                    ? HandlerConcurrencyLimiter.ofBatches(concurrency, context.executor(), context.nanoTime())
                    : new HandlerConcurrencyLimiter(concurrency, context.executor(), context.nanoTime());
        }

        /** Returns {@code false} if the loops were stopped before. */
        private synchronized boolean add(QueueName queue, HandlerConcurrencyLimiter limiter) {
            if (!this.stopped) {
                this.limiters.put(queue, limiter);
            }
            return !this.stopped;
        }

        /** Returns {@code false} if the loops were stopped before. */
        private synchronized boolean add(Runnable watch) {
            return !this.stopped && this.watches.add(watch);
        }

        /** Starts loops outside the lock, as their iterations would block others. */
        private void cover(PartitionBinding binding, List<Partition> partitions) {
            for (Partition partition : partitions) {
                PollLoop loop = add(binding, partition);
                if (loop != null) {
                    try {
                        this.run.start(loop);
                    }
                    catch (Throwable ex) {
                        // The next notification of these partitions retries.
                        remove(partition);
                        throw ex;
                    }
                }
            }
        }

        private synchronized @Nullable PollLoop add(PartitionBinding binding, Partition partition) {
            HandlerConcurrencyLimiter limiter = this.limiters.get(partition.queue());
            if (limiter == null || this.stopped || this.byPartition.containsKey(partition)) {
                return null;
            }
            PollLoop loop = new PollLoop(binding.at(partition), this.run.context(), limiter);
            loop.setPaused(isPaused(partition.queue()));
            this.byPartition.put(partition, loop);
            return loop;
        }

        private synchronized void remove(Partition partition) {
            this.byPartition.remove(partition);
            HandlerConcurrencyLimiter limiter = this.limiters.get(partition.queue());
            if (limiter != null) {
                limiter.unregister();
            }
        }

        synchronized List<PollLoop> all() {
            return List.copyOf(this.byPartition.values());
        }

        synchronized Map<String, Integer> freeHandlers() {
            return this.limiters.entrySet()
                .stream()
                .collect(Collectors.toMap((entry) -> entry.getKey().value(), (entry) -> entry.getValue().idle()));
        }

        /**
         * Applies the present settings of the container. Reads them under the lock, so of
         * two calls the later one decides, and loops that are added from here on read
         * them.
         */
        void applySettings() {
            synchronized (this) {
                DefaultListenerContainer.this.bindings.forEach((binding) -> {
                    HandlerConcurrencyLimiter limiter = this.limiters.get(binding.queue());
                    if (limiter != null) {
                        limiter.setConcurrency(concurrency(binding));
                    }
                });
                this.byPartition.forEach((partition, loop) -> loop.setPaused(isPaused(partition.queue())));
            }
            all().forEach(PollLoop::requestIteration);
        }

        /** Stops all loops without waiting for their end. */
        void stop() {
            List<Runnable> watches;
            List<QueueName> queues;
            synchronized (this) {
                this.stopped = true;
                watches = List.copyOf(this.watches);
                queues = List.copyOf(this.limiters.keySet());
            }
            watches.forEach(Runnable::run);
            queues.forEach(this.run::remove);
            // None is added from here on.
            all().forEach((loop) -> loop.stop(this.run.context().settings().shutdownTimeout()));
        }

    }

}
