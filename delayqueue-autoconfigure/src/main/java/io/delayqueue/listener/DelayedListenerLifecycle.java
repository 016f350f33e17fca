package io.delayqueue.listener;

import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.listener.poll.ClockJumpLog;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.Partition;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Starts all listeners with the application and stops them with it. Uses no thread and no
 * subscription without listeners. Can be started and stopped repeatedly.
 * <p>
 * A stop runs in this order: ends claiming; awaits pending claims; releases all messages
 * that no handler has started; waits for running handlers up to the shutdown timeout;
 * acknowledges finished messages; interrupts the handlers that still run, and releases
 * the messages of those that then throw; ends renewal. A handler that ignores the
 * interrupt keeps its lease until it runs out.
 * <p>
 * <strong>Threads.</strong> The context's life-cycle thread; a stop with a callback runs
 * on its own thread.
 */
public class DelayedListenerLifecycle implements SmartLifecycle {

    /** Starts late and stops early: before web servers drain and other beans stop. */
    private static final int PHASE = Integer.MAX_VALUE - 100;

    private final StoreComponents store;

    private final DelayedListenerRegistry registry;

    private final ApplicationEventPublisher events;

    private final SharedListenerSettings settings;

    private final NodeHeartbeat heartbeat;

    private final ClockJumpLog clocks = new ClockJumpLog();

    private final AtomicReference<@Nullable ListenerRun> current = new AtomicReference<>();

    /**
     * Creates a lifecycle.
     * @param store the store
     * @param registry the listeners
     * @param events publishes dead-letter events
     * @param settings the settings of the process
     * @param heartbeat reports the status of this node
     */
    public DelayedListenerLifecycle(StoreComponents store, DelayedListenerRegistry registry,
            ApplicationEventPublisher events, SharedListenerSettings settings, NodeHeartbeat heartbeat) {
        this.heartbeat = heartbeat;
        this.store = store;
        this.registry = registry;
        this.events = events;
        this.settings = settings;
    }

    @Override
    public void start() {
        if (isRunning()) {
            return;
        }
        ListenerRun run = new ListenerRun(this.store, this.events, this.clocks, this.settings, this.heartbeat);
        if (!this.current.compareAndSet(null, run)) {
            run.retire();
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
        DaemonThreads.start(() -> {
            try {
                run.awaitEnd();
            }
            finally {
                callback.run();
            }
        }, "delayqueue-stop");
    }

    /**
     * Returns the number of jumps of the store's clock that were detected since this
     * object was created; each was logged as a warning.
     */
    public long clockJumps() {
        return this.clocks.count();
    }

    /**
     * Returns whether the wake-ups of a partition with a listener are subscribed, as far
     * as known; {@code true} for stores without subscriptions.
     */
    public boolean isSubscribed(Partition partition) {
        return this.store.wakeUps().isSubscribed(partition);
    }

    /** Allows a new run at once: a context may not wait for the end of this one. */
    private @Nullable ListenerRun end() {
        ListenerRun run = this.current.getAndSet(null);
        if (run != null) {
            this.registry.detach(run);
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
