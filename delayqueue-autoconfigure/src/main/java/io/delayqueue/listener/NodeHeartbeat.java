package io.delayqueue.listener;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.HandlerMonitor;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeRegistry.NodeEntry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.StoreFutures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports this node, its listeners, intakes and running handlers to the store, every few
 * seconds in one call, and applies what operators want of it. No message depends on it,
 * so failures are only logged at debug level.
 * <p>
 * <strong>Threads.</strong> Any; does not block. Its lock guards the number of runs.
 */
public final class NodeHeartbeat {

    /** Short enough that a node may miss two reports before it counts as gone. */
    static final Duration PERIOD = Duration.ofSeconds(6);

    /** Delays the first report, so that it includes listeners that start together. */
    static final Duration FIRST = Duration.ofMillis(200);

    private static final Logger logger = LoggerFactory.getLogger(NodeHeartbeat.class);

    private final NodeRegistry registry;

    private final NodeStatusCodec.Node node;

    private final Supplier<Collection<ListenerContainer>> listeners;

    private final Supplier<List<IntakeStatus>> intakes;

    private final LongSupplier nanoTime;

    private final Runnable besides;

    private final Duration overdueAfter;

    private final WantedStateReconciler wanted;

    private final long startedAt;

    /**
     * Number of runs that report; a new one may begin before an earlier one has ended.
     */
    private int runs;

    /**
     * Creates a heartbeat that has not reported yet.
     * @param listeners returns the listeners of the node, called for each report
     * @param intakes returns the status of its intakes, called for each report
     * @param overdueAfter duration after which a handler without a timeout is overdue
     * @param besides runs after each report, for other periodic checks; must not block
     */
    public NodeHeartbeat(NodeRegistry registry, NodeStatusCodec.Node node,
            Supplier<Collection<ListenerContainer>> listeners, Supplier<List<IntakeStatus>> intakes,
            LongSupplier nanoTime, Duration overdueAfter, Runnable besides) {
        this.registry = registry;
        this.node = node;
        this.listeners = listeners;
        this.intakes = intakes;
        this.nanoTime = nanoTime;
        this.overdueAfter = overdueAfter;
        this.besides = besides;
        this.wanted = new WantedStateReconciler(registry, node.id(), listeners, nanoTime);
        this.startedAt = nanoTime.getAsLong();
    }

    /** Creates a heartbeat that reports nothing. */
    public static NodeHeartbeat none() {
        return new NodeHeartbeat(NodeRegistry.NONE, new NodeStatusCodec.Node("", "", "", 0, null), List::of, List::of,
                () -> 0, Duration.ofMinutes(1), () -> {
                });
    }

    /**
     * Returns the identity of this process.
     * @param application the name of the application
     */
    public static NodeStatusCodec.Node thisProcess(String application) {
        return new NodeStatusCodec.Node(
                Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX), application, host(),
                ProcessHandle.current().pid(), NodeHeartbeat.class.getPackage().getImplementationVersion());
    }

    private static String host() {
        String name = System.getenv("HOSTNAME");
        if (name != null && !name.isBlank()) {
            return name;
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        }
        catch (UnknownHostException ex) {
            return "unknown";
        }
    }

    /** Returns how long a handler without a timeout may run before it is overdue. */
    Duration overdueAfter() {
        return this.overdueAfter;
    }

    /** Begins to report for a run, before its first report. */
    synchronized void begin() {
        if (this.runs++ == 0) {
            this.wanted.begin();
        }
    }

    /** Returns whether no run is left. */
    private synchronized boolean end() {
        this.runs--;
        if (this.runs == 0) {
            this.wanted.end();
        }
        return this.runs == 0;
    }

    private synchronized boolean hasEnded() {
        return this.runs == 0;
    }

    void report(HandlerMonitor handlers) {
        try {
            this.wanted.endExpired(handlers);
        }
        catch (RuntimeException ex) {
            failed(ex, handlers);
        }
        send(handlers, true);
        this.besides.run();
    }

    /**
     * Sends a report, and applies the answer. A report that follows the last run would
     * list the node again.
     * @param again whether to report again at once if that changes what is in force
     */
    private void send(HandlerMonitor handlers, boolean again) {
        if (hasEnded()) {
            return;
        }
        Duration uptime = Duration.ofNanos(this.nanoTime.getAsLong() - this.startedAt);
        List<ListenerStatus> listeners = this.listeners.get().stream().map(NodeHeartbeat::status).toList();
        StoreFutures
            .send(() -> this.registry.report(this.node.id(),
                    NodeStatusCodec.write(this.node, uptime, listeners, handlers.running(), this.intakes.get())))
            .whenComplete((answer, failure) -> {
                complete(answer, failure);
                if (failure == null && reconcile(answer, handlers) && again) {
                    send(handlers, false);
                }
            });
    }

    private boolean reconcile(NodeEntry answer, HandlerMonitor handlers) {
        try {
            return this.wanted.reconcile(answer, handlers);
        }
        catch (RuntimeException ex) {
            failed(ex, handlers);
            return false;
        }
    }

    private static void failed(RuntimeException ex, HandlerMonitor handlers) {
        handlers.log(() -> logger.warn("Cannot apply the overrides of this node; the next report retries", ex));
    }

    private static ListenerStatus status(ListenerContainer listener) {
        ListenerStatistics statistics = listener.statistics();
        return new ListenerStatus(listener.id(), listener.queues(), listener.concurrency(),
                listener.freeHandlers().values().stream().mapToInt(Integer::intValue).sum(), listener.isRunning(),
                listener.isPaused(), HandlerOutage.describe(listener.outage()), statistics.handled(),
                statistics.failed(), listener.byQueue());
    }

    /** Ends a run. With the last one, the status of this node is removed. */
    void withdraw() {
        if (end()) {
            StoreFutures.send(() -> this.registry.remove(this.node.id())).whenComplete(NodeHeartbeat::complete);
        }
    }

    private static void complete(Object done, Throwable failure) {
        if (failure != null) {
            logger.debug("Cannot report the status of this node; the next report follows in a few seconds", failure);
        }
    }

}
