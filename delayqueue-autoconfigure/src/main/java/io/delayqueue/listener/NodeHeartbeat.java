package io.delayqueue.listener;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.listener.poll.StoreFutures;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeStatusCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store what this node is and which listeners it has, every few seconds and in
 * one call, for people who look. Nothing depends on it, so a failure is nobody's trouble.
 * <p>
 * <strong>Threads.</strong> Any; waits for nothing.
 */
public final class NodeHeartbeat {

    /** So a node may miss two before it is taken for gone. */
    static final Duration PERIOD = Duration.ofSeconds(6);

    /** Listeners that start together are told together. */
    static final Duration FIRST = Duration.ofMillis(200);

    private static final Logger logger = LoggerFactory.getLogger(NodeHeartbeat.class);

    private final NodeRegistry directory;

    private final NodeStatusCodec.Node node;

    private final Supplier<Collection<ListenerContainer>> listeners;

    private final LongSupplier nanoTime;

    private final Runnable besides;

    private final long startedAt;

    /**
     * Makes one that has told nothing.
     * @param directory whom to tell
     * @param node who tells
     * @param listeners those of the node, asked each time
     * @param nanoTime the monotonic clock
     * @param besides run after each report, for what is checked every few seconds too;
     * must not wait
     */
    public NodeHeartbeat(NodeRegistry directory, NodeStatusCodec.Node node,
            Supplier<Collection<ListenerContainer>> listeners, LongSupplier nanoTime, Runnable besides) {
        this.directory = directory;
        this.node = node;
        this.listeners = listeners;
        this.nanoTime = nanoTime;
        this.besides = besides;
        this.startedAt = nanoTime.getAsLong();
    }

    /** One that tells nobody. */
    static NodeHeartbeat none() {
        return new NodeHeartbeat(NodeRegistry.NONE, new NodeStatusCodec.Node("", "", "", 0, null), List::of, () -> 0,
                () -> {
                });
    }

    /**
     * Names this process.
     * @param application of which it is one
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

    void report() {
        Duration uptime = Duration.ofNanos(this.nanoTime.getAsLong() - this.startedAt);
        List<ListenerStatus> listeners = this.listeners.get().stream().map(NodeHeartbeat::status).toList();
        StoreFutures
            .send(() -> this.directory.report(this.node.id(), NodeStatusCodec.write(this.node, uptime, listeners)))
            .whenComplete(NodeHeartbeat::conclude);
        this.besides.run();
    }

    private static ListenerStatus status(ListenerContainer listener) {
        return new ListenerStatus(listener.id(), listener.queues(), listener.concurrency(),
                listener.freeHandlers().values().stream().mapToInt(Integer::intValue).sum(), listener.isRunning(),
                listener.isPaused());
    }

    /** The node stops. */
    void withdraw() {
        StoreFutures.send(() -> this.directory.remove(this.node.id())).whenComplete(NodeHeartbeat::conclude);
    }

    private static void conclude(Object done, Throwable failure) {
        if (failure != null) {
            logger.debug("Cannot tell what this node does; told again in some seconds", failure);
        }
    }

}
