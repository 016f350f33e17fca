package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts, and answers once enough replicas have their writes. That takes a
 * dedicated connection: {@code WAIT} covers the writes of its own connection, and blocks
 * later commands on it.
 * <p>
 * Calls made while others wait for the replicas are batched after them, with one {@code
 * WAIT} for all, so that many threads need not wait in turn.
 * <p>
 * <strong>Threads.</strong> Any. A thread of its own opens connections, which blocks, one
 * attempt at a time; calls made meanwhile are sent in order.
 */
public final class ReplicatedScriptRunner implements ScriptRunner {

    private static final Duration PAUSE = Duration.ofMillis(100);

    private final DedicatedConnections connections;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final ThreadFactory threads;

    private final ReentrantLock lock = new ReentrantLock();

    /** Calls made while there was no link; guarded by the lock. */
    private final Deque<ReplicatedCall> waiting = new ArrayDeque<>();

    /** Guarded by the lock. */
    private boolean connecting;

    /** Guarded by the lock. */
    private @Nullable MasterPipelines link;

    private volatile boolean closed;

    public ReplicatedScriptRunner(DedicatedConnections connections, ReplicationRequirement wait, Duration limit) {
        this(connections, wait, limit, (task) -> {
            Thread thread = new Thread(task, "delayqueue-connect-replicated");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Creates a runner.
     * @param threads for the attempts to connect
     */
    public ReplicatedScriptRunner(DedicatedConnections connections, ReplicationRequirement wait, Duration limit,
            ThreadFactory threads) {
        this.connections = connections;
        this.wait = wait;
        this.limit = limit;
        this.threads = threads;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        ReplicatedCall call = new ReplicatedCall(script, keys, arguments, this.limit);
        MasterPipelines current;
        this.lock.lock();
        try {
            this.waiting.add(call);
            current = linkOrConnect();
        }
        finally {
            this.lock.unlock();
        }
        if (current != null) {
            current.flush();
        }
        return call.answer();
    }

    /** Passes the queued calls to the link, or starts to open one. */
    private @Nullable MasterPipelines linkOrConnect() {
        MasterPipelines current = this.link;
        if (current != null && current.isOpen()) {
            this.waiting.forEach(current::add);
            this.waiting.clear();
            return current;
        }
        if (current != null) {
            current.close();
            this.link = null;
        }
        if (!this.connecting) {
            this.connecting = true;
            startConnecting();
        }
        return null;
    }

    /**
     * Starts the thread; if that fails, the queued calls fail and the next call starts
     * one.
     */
    private void startConnecting() {
        try {
            this.threads.newThread(this::connect).start();
        }
        catch (OutOfMemoryError ex) {
            this.connecting = false;
            List<ReplicatedCall> lost = new ArrayList<>(this.waiting);
            this.waiting.clear();
            lost.forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(ex)));
        }
    }

    private void connect() {
        MasterPipelines fresh = null;
        Throwable reason = null;
        try {
            fresh = new MasterPipelines(this.connections.open(), this.wait, this.limit, this::retire);
        }
        catch (RuntimeException | Error ex) {
            reason = ex;
        }
        List<ReplicatedCall> lost = List.of();
        this.lock.lock();
        try {
            this.connecting = false;
            this.link = fresh;
            if (fresh != null) {
                linkOrConnect();
            }
            else {
                lost = new ArrayList<>(this.waiting);
                this.waiting.clear();
            }
        }
        finally {
            this.lock.unlock();
        }
        Throwable cause = reason;
        if (fresh != null) {
            fresh.flush();
        }
        else if (cause != null) {
            lost.forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(cause)));
        }
        if (this.closed) {
            close();
        }
    }

    /**
     * Retires a link that broke or leads to the wrong server; queues its unsent calls.
     */
    private void retire(MasterPipelines old) {
        this.lock.lock();
        try {
            if (this.link == old) {
                this.link = null;
            }
            this.waiting.addAll(old.takeUnsent());
            if (!this.waiting.isEmpty()) {
                linkOrConnect();
            }
        }
        finally {
            this.lock.unlock();
        }
        closeOnceIdle(old, System.nanoTime());
    }

    /**
     * Closes a link once it is idle, as other masters of a cluster may still answer on
     * it.
     */
    private void closeOnceIdle(MasterPipelines old, long retired) {
        CompletableFuture.delayedExecutor(PAUSE.toMillis(), TimeUnit.MILLISECONDS).execute(() -> {
            if (old.isIdle() || System.nanoTime() - retired > this.limit.toNanos()) {
                old.close();
            }
            else {
                closeOnceIdle(old, retired);
            }
        });
    }

    @Override
    public void close() {
        this.closed = true;
        this.connections.close();
    }

}
