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
 * Sends calls through one pipeline per master, so that masters do not wait for each
 * other. The link takes no more calls once a master is lost, or answers that it is the
 * wrong one.
 * <p>
 * <strong>Threads.</strong> One at a time adds; any flushes.
 */
final class MasterPipelines {

    private final StatefulConnection<byte[], byte[]> connection;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final Consumer<MasterPipelines> whenBroken;

    /** Pipelines by the id of the master; empty without a cluster. */
    private final Map<String, MasterPipeline> lines = new ConcurrentHashMap<>();

    private final AtomicBoolean broken = new AtomicBoolean();

    /**
     * Takes over a connection.
     * @param whenBroken called once
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

    /** Queues a call for its master, without sending it. */
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

    @SuppressWarnings("unchecked") // a connection is of one of the two types
    private CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connectionTo(String master) {
        if (this.connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            return master.isEmpty()
                    ? CompletableFuture.failedFuture(new IllegalStateException("No master has this slot"))
                    : cluster.getConnectionAsync(master);
        }
        return CompletableFuture.completedFuture((StatefulRedisConnection<byte[], byte[]>) this.connection);
    }

    /** Sends the queued calls of idle pipelines. */
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

    /** Returns whether no call waits for an answer on it. */
    boolean isIdle() {
        return this.lines.values().stream().noneMatch(MasterPipeline::isBusy);
    }

    void close() {
        this.connection.closeAsync();
    }

}
