package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.DaemonThreads;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Routes each call to the pipeline of its master, which answers once enough replicas have
 * the write. Each master has a dedicated connection of the application's client:
 * {@code WAIT} covers the writes of its own connection, and blocks later commands on it.
 * <p>
 * <strong>Threads.</strong> Any calls. A thread opens each connection, which blocks;
 * calls made meanwhile are sent in order.
 */
public final class ReplicatedScriptRunner implements ScriptRunner {

    private final LettuceConnectionFactory factory;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final ThreadFactory threads;

    /** Pipelines by the id of the master, which is empty without a cluster. */
    private final Map<String, MasterPipeline> pipelines = new ConcurrentHashMap<>();

    /** Calls whose master is not known yet; guarded by this. */
    private final List<ReplicatedCall> unrouted = new ArrayList<>();

    private volatile boolean closed;

    /** Client whose slots are known; no call is unrouted. */
    private volatile @Nullable AbstractRedisClient client;

    public ReplicatedScriptRunner(LettuceConnectionFactory factory, ReplicationRequirement wait, Duration limit) {
        this(factory, wait, limit, DaemonThreads.named("delayqueue-connect-replicated"));
    }

    /**
     * Creates a runner.
     * @param threads for the attempts to connect
     */
    ReplicatedScriptRunner(LettuceConnectionFactory factory, ReplicationRequirement wait, Duration limit,
            ThreadFactory threads) {
        this.factory = factory;
        this.wait = wait;
        this.limit = limit;
        this.threads = threads;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        return run(script, keys, arguments, this.limit);
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
        ReplicatedCall call = new ReplicatedCall(script, keys, arguments, limit);
        AbstractRedisClient current = this.client;
        if (current != null && current == this.factory.getNativeClient()) {
            MasterPipeline pipeline = pipelineOf(call, current);
            pipeline.add(call);
            pipeline.flush();
        }
        else if (isFirst(call)) {
            readSlots().whenComplete(this::route);
        }
        return call.answer();
    }

    private synchronized boolean isFirst(ReplicatedCall call) {
        this.unrouted.add(call);
        return this.unrouted.size() == 1;
    }

    /** Reads the slots of a cluster: a call that needs them would wait for that. */
    private CompletableFuture<AbstractRedisClient> readSlots() {
        try {
            AbstractRedisClient current = this.factory.getRequiredNativeClient();
            return (current instanceof RedisClusterClient cluster)
                    ? cluster.refreshPartitionsAsync().toCompletableFuture().thenApply((done) -> current)
                    : CompletableFuture.completedFuture(current);
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private void route(@Nullable AbstractRedisClient known, @Nullable Throwable failure) {
        List<ReplicatedCall> calls;
        Set<MasterPipeline> used = new HashSet<>();
        synchronized (this) {
            calls = List.copyOf(this.unrouted);
            this.unrouted.clear();
            this.client = known;
            if (known != null) {
                for (ReplicatedCall call : calls) {
                    MasterPipeline pipeline = pipelineOf(call, known);
                    pipeline.add(call);
                    used.add(pipeline);
                }
            }
        }
        if (failure != null) {
            calls.forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(failure)));
        }
        used.forEach(MasterPipeline::flush);
    }

    private MasterPipeline pipelineOf(ReplicatedCall call, AbstractRedisClient known) {
        if (!(known instanceof RedisClusterClient cluster)) {
            return pipelineTo("");
        }
        RedisClusterNode master = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(call.firstKey()));
        String id = (master != null) ? master.getNodeId() : "";
        if (!this.pipelines.containsKey(id)) {
            closeReplaced(cluster.getPartitions());
        }
        return pipelineTo(id);
    }

    private MasterPipeline pipelineTo(String master) {
        MasterPipeline pipeline = this.pipelines.computeIfAbsent(master,
                (id) -> new MasterPipeline(() -> open(id), this.wait, this.limit, this.threads, this::readSlots));
        if (this.closed) {
            pipeline.close(); // close() may not have seen it
        }
        return pipeline;
    }

    /** Closes the pipelines to nodes that are no longer masters, or have no slots. */
    private void closeReplaced(Partitions nodes) {
        this.pipelines.forEach((id, pipeline) -> {
            RedisClusterNode node = nodes.getPartitionByNodeId(id);
            if (node == null || !node.is(NodeFlag.UPSTREAM) || node.hasNoSlots()) {
                this.pipelines.remove(id, pipeline);
                pipeline.close();
            }
        });
    }

    private DedicatedConnection open(String master) {
        AbstractRedisClient current = this.factory.getRequiredNativeClient();
        if (current instanceof RedisClusterClient cluster) {
            if (master.isEmpty()) {
                throw new IllegalStateException("No master has this slot");
            }
            StatefulRedisClusterConnection<byte[], byte[]> owner = cluster.connect(ByteArrayCodec.INSTANCE);
            try {
                return new DedicatedConnection(owner, owner.getConnection(master));
            }
            catch (RuntimeException ex) {
                owner.closeAsync();
                throw ex;
            }
        }
        return new DedicatedConnection(((RedisClient) current).connect(ByteArrayCodec.INSTANCE));
    }

    /** Rejects new calls, and closes each connection after its batch under way. */
    @Override
    public void close() {
        this.closed = true;
        this.pipelines.values().forEach(MasterPipeline::close);
    }

}
