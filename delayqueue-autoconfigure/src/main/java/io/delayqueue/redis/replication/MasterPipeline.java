package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.delayqueue.NotReplicatedException;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisKeys;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls to one master. At most one batch is under way on its connection: its
 * scripts, a write, and {@code WAIT}, sent back to back. Calls made meanwhile form the
 * next batch, so that many threads share a {@code WAIT}.
 * <p>
 * The write has no meaning and expires after a millisecond. A script may find its message
 * stored already and write nothing, although the caller still needs to know that replicas
 * have it: as of Redis 7.2 {@code WAIT} covers the last write of this connection, and
 * there may have been none.
 * <p>
 * <strong>Threads.</strong> Any adds and flushes, and the thread that finds the pipeline
 * idle sends. The connection's thread handles the answers, and a thread of its own opens
 * a connection.
 */
final class MasterPipeline {

    /** Bounds the work of the server for one batch. */
    private static final int MAX_BATCH = 100;

    /** Bounds the rate of connections, as a redirected caller reconnects at once. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final byte[] NOTHING = new byte[0];

    private final Supplier<DedicatedConnection> opener;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final ThreadFactory threads;

    private final Runnable whenBroken;

    private final Queue<ReplicatedCall> waiting = new ConcurrentLinkedQueue<>();

    /**
     * Calls to repeat with the text of their scripts, before the queued ones; used by the
     * batch under way only.
     */
    private final List<ReplicatedCall> retries = new ArrayList<>();

    /** Whether a batch is under way, or a connection is being opened for one. */
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Written while busy only. */
    private volatile @Nullable DedicatedConnection connection;

    /** By the monotonic clock; used while busy only. */
    private long lastOpened = System.nanoTime() - PAUSE.toNanos();

    private volatile boolean closed;

    /**
     * Creates a pipeline, which connects for the first call.
     * @param opener opens a connection, which may block
     * @param whenBroken called when the connection was lost or leads to the wrong server
     */
    MasterPipeline(Supplier<DedicatedConnection> opener, ReplicationRequirement wait, Duration limit,
            ThreadFactory threads, Runnable whenBroken) {
        this.opener = opener;
        this.wait = wait;
        this.limit = limit;
        this.threads = threads;
        this.whenBroken = whenBroken;
    }

    /** Queues a call without sending it. */
    void add(ReplicatedCall call) {
        call.isBehindOthers(this.connection != null);
        this.waiting.add(call);
    }

    /** Sends the queued calls, unless a batch is under way. */
    void flush() {
        if (!this.waiting.isEmpty() && this.busy.compareAndSet(false, true)) {
            sendNext();
        }
    }

    private void sendNext() {
        DedicatedConnection open = this.connection;
        if (this.closed) {
            notConnected(new IllegalStateException("The store is closed, or another master has the slots"));
            return;
        }
        if (open == null || !open.isOpen()) {
            startConnecting();
            return;
        }
        List<ReplicatedCall> batch = new ArrayList<>(this.retries);
        this.retries.clear();
        for (ReplicatedCall next = poll(batch); next != null; next = poll(batch)) {
            batch.add(next);
        }
        batch.removeIf((call) -> !call.send(open.commands()));
        if (!batch.isEmpty()) {
            awaitReplicas(open, batch);
        }
        else {
            release();
        }
    }

    private @Nullable ReplicatedCall poll(List<ReplicatedCall> batch) {
        return (batch.size() < MAX_BATCH) ? this.waiting.poll() : null;
    }

    private void awaitReplicas(DedicatedConnection open, List<ReplicatedCall> batch) {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        answer.orTimeout(this.limit.toNanos(), TimeUnit.NANOSECONDS)
            .whenComplete((replicas, failure) -> settle(batch, replicas, failure));
        open.await(answer);
        try {
            RedisFuture<String> marked = open.commands()
                .set(RedisKeys.markBeside(batch.get(0).firstKey()), NOTHING, SetArgs.Builder.px(1));
            RedisFuture<Long> counted = open.commands()
                .waitForReplication(this.wait.replicas(), this.wait.timeout().toMillis());
            marked.whenComplete((ok, failure) -> failIf(failure, answer));
            counted.whenComplete((replicas, failure) -> {
                failIf(failure, answer);
                answer.complete(replicas);
            });
        }
        catch (Throwable ex) {
            answer.completeExceptionally(ex);
        }
    }

    private static void failIf(@Nullable Throwable failure, CompletableFuture<Long> answer) {
        if (failure != null) {
            answer.completeExceptionally(failure);
        }
    }

    private void settle(List<ReplicatedCall> batch, @Nullable Long replicas, @Nullable Throwable reason) {
        boolean broken = reason != null && !RedisExceptionTranslator.isErrorReply(reason);
        List<Runnable> answers = new ArrayList<>(batch.size());
        for (ReplicatedCall call : batch) {
            Throwable failed = call.failure(reason);
            if (failed == null) {
                answers.add((replicas != null && replicas >= this.wait.replicas()) ? call::complete
                        : () -> call.fail(notReplicated(replicas, reason)));
            }
            else if (call.needsText(failed)) {
                this.retries.add(call);
            }
            else {
                broken |= RedisExceptionTranslator.needsAnotherConnection(failed);
                answers.add(() -> call.fail(failed));
            }
        }
        if (broken) {
            disconnect();
        }
        if (this.retries.isEmpty()) {
            release();
        }
        else {
            sendNext();
        }
        answers.forEach(Runnable::run);
    }

    private NotReplicatedException notReplicated(@Nullable Long replicas, @Nullable Throwable failure) {
        String outcome = (replicas != null)
                ? "%d of %d replicas had it within %d ms".formatted(replicas, this.wait.replicas(),
                        this.wait.timeout().toMillis())
                : "whether %d replicas have it is not known: %s".formatted(this.wait.replicas(),
                        (failure != null) ? RedisExceptionTranslator.errorText(failure) : "no answer");
        return new NotReplicatedException("Stored, not replicated: " + outcome, failure);
    }

    private void disconnect() {
        DedicatedConnection old = this.connection;
        this.connection = null;
        if (old != null) {
            old.close();
        }
        this.whenBroken.run();
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
            notConnected(ex);
        }
    }

    private void connect() {
        LockSupport.parkNanos(PAUSE.toNanos() - (System.nanoTime() - this.lastOpened));
        this.lastOpened = System.nanoTime();
        DedicatedConnection old = this.connection;
        try {
            if (old != null) {
                old.close(); // it may have been lost before it was watched
            }
            this.connection = this.opener.get();
        }
        catch (RuntimeException | Error ex) {
            this.whenBroken.run();
            notConnected(ex);
            return;
        }
        sendNext();
    }

    private void notConnected(Throwable failure) {
        List<ReplicatedCall> calls = new ArrayList<>(this.retries);
        this.retries.clear();
        for (ReplicatedCall next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
            calls.add(next);
        }
        release();
        calls.forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(failure)));
    }

    /** Ends the batch under way, and sends the next one if calls are queued. */
    private void release() {
        this.busy.set(false);
        disconnectIfClosed();
        flush();
    }

    /** Rejects new calls, and closes the connection after the batch under way. */
    void close() {
        this.closed = true;
        if (!this.busy.get()) {
            disconnectIfClosed();
        }
    }

    private void disconnectIfClosed() {
        DedicatedConnection open = this.connection;
        if (this.closed && open != null) {
            open.close();
        }
    }

}
