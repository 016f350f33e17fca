package io.delayqueue.listener;

import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.listener.poll.ClockJumpDetector;
import io.delayqueue.listener.poll.ListenerRuntimeSettings;
import io.delayqueue.store.Partition;
import io.delayqueue.store.routing.DelayQueueStore;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Brings due messages to the handlers, from the start of the application to its stop.
 * Without listeners it has no thread and no subscription. May be started and stopped any
 * number of times.
 * <p>
 * A stop goes in this order: no more claims; a claim under way is awaited and, with what
 * no handler has begun with, given back; handlers that run are waited for up to the
 * shutdown timeout; what they finished is acknowledged; those that still run are
 * interrupted, and what they then leave by an exception is given back; renewal ends. A
 * handler that does not heed the interrupt keeps its lease until that runs out.
 * <p>
 * <strong>Threads.</strong> The context's life-cycle thread; a stop with a callback runs
 * on a thread of its own.
 */
public class DelayedListenerLifecycle implements SmartLifecycle {

    /** Starts late and stops early: before web servers drain, while all else is there. */
    private static final int PHASE = Integer.MAX_VALUE - 100;

    private final DelayQueueStore ports;

    private final DelayedListenerRegistry registry;

    private final ApplicationEventPublisher events;

    private final ListenerRuntimeSettings settings;

    private final NodeHeartbeat reporter;

    private final ClockJumpDetector clocks = new ClockJumpDetector();

    private final AtomicReference<@Nullable ListenerRun> current = new AtomicReference<>();

    /**
     * Creates a worker that tells nobody that it is there.
     * @param ports where messages live
     * @param registry the listeners
     * @param events told of dead letters
     * @param settings of the process
     */
    public DelayedListenerLifecycle(DelayQueueStore ports, DelayedListenerRegistry registry,
            ApplicationEventPublisher events, ListenerRuntimeSettings settings) {
        this(ports, registry, events, settings, NodeHeartbeat.none());
    }

    /**
     * Creates a worker.
     * @param ports where messages live
     * @param registry the listeners
     * @param events told of dead letters
     * @param settings of the process
     * @param reporter tells what this node does
     */
    public DelayedListenerLifecycle(DelayQueueStore ports, DelayedListenerRegistry registry,
            ApplicationEventPublisher events, ListenerRuntimeSettings settings, NodeHeartbeat reporter) {
        this.reporter = reporter;
        this.ports = ports;
        this.registry = registry;
        this.events = events;
        this.settings = settings;
    }

    @Override
    public void start() {
        ListenerRun run = new ListenerRun(this.ports, this.events, this.clocks, this.settings, this.reporter);
        if (!this.current.compareAndSet(null, run)) {
            return;
        }
        try {
            this.registry.attach(run);
        }
        catch (RuntimeException ex) {
            stop();
            throw ex;
        }
    }

    @Override
    public void stop() {
        ListenerRun run = end();
        if (run != null) {
            run.awaitEnd();
        }
    }

    @Override
    public void stop(Runnable callback) {
        ListenerRun run = end();
        if (run == null) {
            callback.run();
            return;
        }
        Thread thread = new Thread(() -> {
            try {
                run.awaitEnd();
            }
            finally {
                callback.run();
            }
        }, "delayqueue-stop");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * How often the store's clock has jumped since this worker was made, as far as it has
     * looked; each was logged as a warning.
     */
    public long clockJumps() {
        return this.clocks.count();
    }

    /**
     * Whether the wake-ups of a partition that a listener works on are subscribed, as far
     * as is known; {@code true} where there is nothing to subscribe to.
     */
    public boolean isSubscribed(Partition partition) {
        return this.ports.wakeUps().isHeard(partition);
    }

    /**
     * Makes room for a new run at once: a context may not wait for the end of this one.
     */
    private @Nullable ListenerRun end() {
        ListenerRun run = this.current.getAndSet(null);
        if (run != null) {
            this.registry.detach(run);
            run.stop();
        }
        return run;
    }

    @Override
    public boolean isRunning() {
        return this.current.get() != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

}
