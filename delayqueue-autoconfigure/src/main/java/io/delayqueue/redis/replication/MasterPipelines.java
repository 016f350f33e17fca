package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;

/**
 * The way to the masters, by a line to each: they do not wait for each other. Once one is
 * lost, or answers that it is the wrong one, the link takes no more calls.
 * <p>
 * <strong>Threads.</strong> One at a time adds; any flushes.
 */
final class MasterPipelines {

    private final StatefulConnection<byte[], byte[]> connection;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final Consumer<MasterPipelines> whenBroken;

    /** By the id of the master; one without name where there is but one. */
    private final Map<String, MasterPipeline> lines = new ConcurrentHashMap<>();

    private final AtomicBoolean broken = new AtomicBoolean();

    /**
     * Takes a connection over.
     * @param whenBroken told once
     */
    MasterPipelines(StatefulConnection<byte[], byte[]> connection, ReplicationRequirement wait, Duration limit,
            Consumer<MasterPipelines> whenBroken) {
        this.connection = connection;
        this.wait = wait;
        this.limit = limit;
        this.whenBroken = whenBroken;
    }

    boolean isOpen() {
        return !this.broken.get() && this.connection.isOpen();
    }

    /** Puts a call into its line, and does not send it yet. */
    void add(ReplicatedCall call) {
        this.lines.computeIfAbsent(masterOf(call.firstKey()), this::line).add(call);
    }

    private String masterOf(byte[] key) {
        if (this.connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            RedisClusterNode master = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
            return (master != null) ? master.getNodeId() : "";
        }
        return "";
    }

    private MasterPipeline line(String master) {
        return new MasterPipeline(connectionTo(master), this.wait, this.limit, this::breaks);
    }

    @SuppressWarnings("unchecked") // a connection is the one or the other
    private CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connectionTo(String master) {
        if (this.connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            return master.isEmpty()
                    ? CompletableFuture.failedFuture(new IllegalStateException("No master has this slot"))
                    : cluster.getConnectionAsync(master);
        }
        return CompletableFuture.completedFuture((StatefulRedisConnection<byte[], byte[]>) this.connection);
    }

    /** Sends what waits on lines that are free. */
    void flush() {
        this.lines.values().forEach(MasterPipeline::flush);
    }

    private void breaks() {
        if (this.broken.compareAndSet(false, true)) {
            this.whenBroken.accept(this);
        }
    }

    List<ReplicatedCall> takeUnsent() {
        List<ReplicatedCall> unsent = new ArrayList<>();
        this.lines.values().forEach((line) -> unsent.addAll(line.takeUnsent()));
        return unsent;
    }

    /** Whether nobody waits for an answer on it. */
    boolean isIdle() {
        return this.lines.values().stream().noneMatch(MasterPipeline::isBusy);
    }

    void close() {
        this.connection.closeAsync();
    }

}
