package io.delayqueue.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

import io.delayqueue.QueueName;
import io.delayqueue.redis.replication.ReplicatedScriptRunner;
import io.delayqueue.redis.replication.ReplicationRequirement;
import io.delayqueue.redis.script.BlockingScriptRunner;
import io.delayqueue.redis.script.LettuceScriptRunner;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.redis.script.SlotMoveRetryingScriptRunner;
import io.delayqueue.redis.script.SlowCallLog;
import io.delayqueue.redis.script.TimedScriptRunner;
import io.delayqueue.store.LogExecutor;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Creates the script runner of a connection factory, and runs scripts with the keys of a
 * partition or of the namespace. Thread-safe.
 */
public final class RedisScriptExecutor implements AutoCloseable {

    private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,63}");

    /**
     * Bounds the cache, as callers may invent names of queues; beyond it all keys are
     * rebuilt.
     */
    private static final int MAX_CACHED_KEYS = 10_000;

    /** Enough to be sent, although the time of the first call is over. */
    private static final Duration LEAST_LIMIT = Duration.ofMillis(1);

    private final ScriptRunner runner;

    /** Runs the scripts that store sent messages. */
    private final ScriptRunner sends;

    private final String namespace;

    /** The time limit of sends that are merged; {@code null} if they are not. */
    private final @Nullable Duration mergedLimit;

    private final Map<Partition, RedisKeys> keys = new ConcurrentHashMap<>();

    private final AtomicBoolean refused = new AtomicBoolean();

    private final LogExecutor log;

    /** Creates an executor that merges no sends. */
    public RedisScriptExecutor(ScriptRunner runner, String namespace) {
        this(runner, runner, namespace, new LogExecutor(), null);
    }

    /**
     * Creates an executor that merges concurrent sends.
     * @param mergedLimit the time limit of each send
     */
    public RedisScriptExecutor(ScriptRunner runner, String namespace, Duration mergedLimit) {
        this(runner, runner, namespace, new LogExecutor(), mergedLimit);
    }

    private RedisScriptExecutor(ScriptRunner runner, ScriptRunner sends, String namespace, LogExecutor log,
            @Nullable Duration mergedLimit) {
        this.log = log;
        this.mergedLimit = mergedLimit;
        this.runner = runner;
        this.sends = sends;
        this.namespace = requireNamespace(namespace);
    }

    /**
     * Creates an executor on a factory; connects at the first call.
     * @param factory any; Lettuce's is used asynchronously, others wait in the calling
     * thread
     * @param namespace the prefix of all keys
     * @param limit longest time to wait for an answer; a client other than Lettuce
     * applies its own limit
     */
    public static RedisScriptExecutor to(RedisConnectionFactory factory, String namespace, Duration limit) {
        return to(factory, namespace, limit, ReplicationRequirement.NONE);
    }

    /**
     * Creates an executor whose sends wait for replicas.
     * @param wait for how many, and how long
     * @throws UnsuitableRedisException if replicas are required, and the client is not
     * Lettuce or has a static list of master and replicas
     */
    public static RedisScriptExecutor to(RedisConnectionFactory factory, String namespace, Duration limit,
            ReplicationRequirement wait) {
        return to(factory, namespace, limit, wait, MessageEventRecorderFactory.NONE);
    }

    /**
     * Creates an executor that also reports each call.
     * @param events receive its duration
     */
    public static RedisScriptExecutor to(RedisConnectionFactory factory, String namespace, Duration limit,
            ReplicationRequirement wait, MessageEventRecorderFactory events) {
        boolean cluster = isLettuceCluster(factory);
        LogExecutor log = new LogExecutor();
        ScriptRunner runner = new TimedScriptRunner(
                new SlotMoveRetryingScriptRunner(runner(factory, limit), limit, cluster), events,
                new SlowCallLog(SlowCallLog.LATE, System::nanoTime, log));
        if (wait.replicas() == 0) {
            return new RedisScriptExecutor(runner, runner, namespace, log, isLettuce(factory) ? limit : null);
        }
        if (!isLettuce(factory)) {
            throw new UnsuitableRedisException(
                    "Sends cannot wait for replicas with %s (delayqueue.durability.wait-replicas is %d)"
                        .formatted(factory.getClass().getSimpleName(), wait.replicas()),
                    "Use Lettuce, or set delayqueue.durability.wait-replicas to 0.");
        }
        if (LettuceDetection.isStaticMasterReplica(factory)) {
            throw new UnsuitableRedisException(
                    ("Sends cannot wait for replicas with a static list of master and replicas, which has no address "
                            + "of the master alone (delayqueue.durability.wait-replicas is %d)")
                        .formatted(wait.replicas()),
                    "Configure spring.data.redis.host and port, Sentinel or a cluster instead of "
                            + "spring.data.redis.masterreplica.nodes, or set delayqueue.durability.wait-replicas to 0.");
        }
        ScriptRunner sends = new TimedScriptRunner(
                new SlotMoveRetryingScriptRunner(LettuceDetection.replicated(factory, wait, limit), limit, cluster),
                events, new SlowCallLog(SlowCallLog.LATE.plus(wait.timeout()), System::nanoTime, log));
        // Sends that wait for replicas are batched there.
        return new RedisScriptExecutor(runner, sends, namespace, log, null);
    }

    public static ScriptRunner runner(RedisConnectionFactory factory, Duration limit) {
        return isLettuce(factory) ? new LettuceScriptRunner(factory, limit) : new BlockingScriptRunner(factory, limit);
    }

    public static boolean isLettuce(RedisConnectionFactory factory) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", factory.getClass().getClassLoader())
                && LettuceDetection.isLettuce(factory);
    }

    public static boolean isLettuceCluster(RedisConnectionFactory factory) {
        return isLettuce(factory) && LettuceDetection.isCluster(factory);
    }

    /**
     * Checks a namespace.
     * @param namespace 1 to 64 characters: letters, digits and {@code . _ : -}, beginning
     * with a letter or a digit
     * @return {@code namespace}
     */
    public static String requireNamespace(String namespace) {
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new IllegalArgumentException(("Namespace '%s' is not valid: use 1 to 64 characters of A-Z, a-z, 0-9, "
                    + "'.', '_', ':' and '-', beginning with a letter or a digit")
                .formatted(namespace));
        }
        return namespace;
    }

    public String namespace() {
        return this.namespace;
    }

    public RedisKeys keysOf(Partition partition) {
        RedisKeys known = this.keys.get(partition);
        if (known != null) {
            return known;
        }
        if (this.keys.size() >= MAX_CACHED_KEYS) {
            this.keys.clear();
        }
        return this.keys.computeIfAbsent(partition, (name) -> new RedisKeys(this.namespace, name));
    }

    /**
     * Names a channel of one process, which belongs to no queue. Permission for the
     * channels <code>&lt;namespace&gt;:{*</code> covers it.
     */
    public String controlChannel() {
        return this.namespace + ":{delayqueue}:control:" + UUID.randomUUID() + ":wake";
    }

    /** Returns whether calls wait for their answers on the caller's thread. */
    boolean isBlocking() {
        return this.runner.isBlocking();
    }

    public CompletableFuture<List<Object>> run(RedisScript script, Partition partition, byte[]... arguments) {
        return this.runner.run(script, keysOf(partition).all(), arguments);
    }

    /** Runs a call that concerns duplicate windows, which has one key more. */
    CompletableFuture<List<Object>> withDuplicates(RedisScript script, Partition partition, byte[]... arguments) {
        return this.runner.run(script, keysOf(partition).withDuplicates(), arguments);
    }

    /** Runs a script of schedules on the first partition of a queue. */
    CompletableFuture<List<Object>> schedules(RedisScript script, QueueName queue, byte[]... arguments) {
        return this.runner.run(script, keysOf(Partition.first(queue)).ofSchedules(), arguments);
    }

    /** Runs the probe, on keys that no queue has; see {@link RedisKeys#tagOfProbe}. */
    public CompletableFuture<List<Object>> probe(int number) {
        return this.runner.run(RedisScripts.CHECK_SERVER, RedisKeys.ofProbe(this.namespace, number).all(),
                new byte[0][]);
    }

    /** Runs a script on the keys of the whole namespace. */
    CompletableFuture<List<Object>> directory(RedisScript script, byte[]... arguments) {
        return this.runner.run(script, RedisKeys.ofDirectory(this.namespace), arguments);
    }

    /** Runs a script on what nodes do, by minute. */
    CompletableFuture<List<Object>> activity(RedisScript script, byte[]... arguments) {
        return this.runner.run(script, RedisKeys.ofActivity(this.namespace), arguments);
    }

    /**
     * Runs the script that takes the fewest keys.
     * @param limit {@code null} for the usual time limit
     */
    public CompletableFuture<List<Object>> send(@Nullable Duration limit, Partition partition, byte[]... arguments) {
        return run(RedisScripts.SEND, keysOf(partition).ofSend(), arguments, limit);
    }

    private CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments,
            @Nullable Duration limit) {
        return (limit != null) ? this.sends.run(script, keys, arguments, limit)
                : this.sends.run(script, keys, arguments);
    }

    /**
     * Returns what is left of a time limit.
     * @param limit {@code null} for the usual one, of each call
     * @param start when the first call began, by the monotonic clock
     */
    static @Nullable Duration left(@Nullable Duration limit, long start) {
        if (limit == null) {
            return null;
        }
        Duration left = limit.minusNanos(System.nanoTime() - start);
        return (left.compareTo(LEAST_LIMIT) > 0) ? left : LEAST_LIMIT;
    }

    /** Returns the time limit of sends that are merged; {@code null} if they are not. */
    @Nullable Duration mergedLimit() {
        return this.mergedLimit;
    }

    /**
     * Runs the script that stores any messages. Those that a journal keeps until they end
     * need not wait for replicas.
     * @param limit {@code null} for the usual time limit
     * @param messages either all have revisions or none
     */
    CompletableFuture<List<Object>> schedule(@Nullable Duration limit, Partition partition, List<NewMessage> messages,
            byte[]... arguments) {
        RedisKeys all = keysOf(partition);
        boolean windows = messages.stream().anyMatch((message) -> message.duplicateWindow() != null);
        byte[][] keys = windows ? all.withDuplicates() : all.all();
        return (messages.get(0).revision() != 0) ? this.runner.run(RedisScripts.SCHEDULE, keys, arguments)
                : run(RedisScripts.SCHEDULE, keys, arguments, limit);
    }

    /**
     * Records that wake-ups may not be published.
     * @return whether this is the first time, so that the caller logs it
     */
    public boolean recordRefusedWakeUp() {
        return this.refused.compareAndSet(false, true);
    }

    /** Logs outside the client's thread, which must not be blocked. */
    void log(Runnable line) {
        this.log.execute(line);
    }

    @Override
    public void close() {
        this.log.close();
        this.runner.close();
        this.sends.close();
    }

    /** Refers to Lettuce's classes, which may be absent, apart from the other code. */
    private static final class LettuceDetection {

        public static boolean isLettuce(RedisConnectionFactory factory) {
            return factory instanceof LettuceConnectionFactory;
        }

        static ScriptRunner replicated(RedisConnectionFactory factory, ReplicationRequirement wait, Duration limit) {
            return new ReplicatedScriptRunner((LettuceConnectionFactory) factory, wait, limit);
        }

        static boolean isCluster(RedisConnectionFactory factory) {
            return ((LettuceConnectionFactory) factory).isClusterAware();
        }

        static boolean isStaticMasterReplica(RedisConnectionFactory factory) {
            return !StaticMasterReplicaNodes.of((LettuceConnectionFactory) factory).isEmpty();
        }

    }

}
