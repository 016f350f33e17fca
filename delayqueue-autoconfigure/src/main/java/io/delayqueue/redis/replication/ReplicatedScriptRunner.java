package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs scripts, and answers once enough replicas have their writes. Each master has a
 * dedicated connection of the application's client: {@code WAIT} covers the writes of its
 * own connection, and blocks later commands on it.
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

    /** Client whose slots are known; no call is unrouted. */
    private volatile @Nullable AbstractRedisClient client;

    public ReplicatedScriptRunner(LettuceConnectionFactory factory, ReplicationRequirement wait, Duration limit) {
        this(factory, wait, limit, (task) -> {
            Thread thread = new Thread(task, "delayqueue-connect-replicated");
            thread.setDaemon(true);
            return thread;
        });
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
        ReplicatedCall call = new ReplicatedCall(script, keys, arguments, this.limit);
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
        synchronized (this) {
            calls = List.copyOf(this.unrouted);
            this.unrouted.clear();
            this.client = known;
            if (known != null) {
                calls.forEach((call) -> pipelineOf(call, known).add(call));
            }
        }
        if (failure != null) {
            calls.forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(failure)));
        }
        this.pipelines.values().forEach(MasterPipeline::flush);
    }

    private MasterPipeline pipelineOf(ReplicatedCall call, AbstractRedisClient known) {
        RedisClusterNode master = (known instanceof RedisClusterClient cluster)
                ? cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(call.firstKey())) : null;
        return this.pipelines.computeIfAbsent((master != null) ? master.getNodeId() : "",
                (id) -> new MasterPipeline(() -> open(id), this.wait, this.limit, this.threads, this::readSlots));
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

    @Override
    public void close() {
        this.pipelines.values().forEach(MasterPipeline::close);
    }

}
