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
 * Runs scripts, and answers once enough replicas have what they wrote. That takes a
 * connection of its own: {@code WAIT} covers what was written on the connection that it
 * is sent on, and keeps the rest of that waiting.
 * <p>
 * Calls that come while others wait for the replicas travel together after them, with one
 * {@code WAIT} for all, so that many threads need not wait one after the other.
 * <p>
 * <strong>Threads.</strong> Any. Opening a connection waits, so it happens on a thread of
 * its own, one attempt at a time; calls that come meanwhile go in their order.
 */
public final class ReplicatedScriptRunner implements ScriptRunner {

    private static final Duration PAUSE = Duration.ofMillis(100);

    private final DedicatedConnections connections;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final ThreadFactory threads;

    private final ReentrantLock lock = new ReentrantLock();

    /** Calls that came while there was no link; guarded by the lock. */
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
     * Makes a runner.
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

    /** Hands what waits to the link, or begins to open one. */
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

    /** Without a thread, the calls that wait fail, and the next one tries again. */
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

    /** A link that broke, or leads to the wrong server: what it has not sent goes on. */
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

    /** Other masters of a cluster may still have to answer on it. */
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
