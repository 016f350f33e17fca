package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.NotReplicatedException;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisKeys;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls to one master. At most one batch is under way on its connection: its
 * scripts, a write, and {@code WAIT}, sent back to back.
 * <p>
 * The write has no meaning and expires after a millisecond. A script may find its message
 * stored already and write nothing, although the caller still needs to know that replicas
 * have it: as of Redis 7.2 {@code WAIT} covers the last write of this connection, and
 * there may have been none.
 * <p>
 * <strong>Threads.</strong> One at a time adds; any flushes, and the thread that finds
 * the pipeline idle sends. The connection's thread handles the answers.
 */
final class MasterPipeline {

    /** Bounds the work of the server for one batch. */
    private static final int MOST = 100;

    private static final byte[] NOTHING = new byte[0];

    private final CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection;

    private final ReplicationRequirement wait;

    private final Duration limit;

    private final Runnable whenBroken;

    private final Queue<ReplicatedCall> waiting = new ConcurrentLinkedQueue<>();

    /** To be sent before the queued calls; used by the batch under way only. */
    private final List<ReplicatedCall> again = new ArrayList<>();

    private final AtomicBoolean busy = new AtomicBoolean();

    MasterPipeline(CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection, ReplicationRequirement wait,
            Duration limit, Runnable whenBroken) {
        this.connection = connection;
        this.wait = wait;
        this.limit = limit;
        this.whenBroken = whenBroken;
    }

    void add(ReplicatedCall call) {
        call.queues(true);
        this.waiting.add(call);
    }

    void flush() {
        while (!this.waiting.isEmpty() && this.busy.compareAndSet(false, true)) {
            List<ReplicatedCall> batch = take();
            if (!batch.isEmpty()) {
                this.connection.whenComplete((open, failure) -> send(open, failure, batch));
                return;
            }
            this.busy.set(false);
        }
    }

    boolean isBusy() {
        return this.busy.get();
    }

    private List<ReplicatedCall> take() {
        List<ReplicatedCall> batch = new ArrayList<>(this.again);
        this.again.clear();
        while (batch.size() < MOST) {
            ReplicatedCall next = this.waiting.poll();
            if (next == null) {
                break;
            }
            batch.add(next);
        }
        // Their time limit may have passed.
        batch.removeIf(ReplicatedCall::isOver);
        batch.forEach((call) -> call.queues(false));
        return batch;
    }

    private void send(@Nullable StatefulRedisConnection<byte[], byte[]> open, @Nullable Throwable failure,
            List<ReplicatedCall> batch) {
        if (open == null) {
            this.whenBroken.run();
            batch.forEach((call) -> call.fail(RedisExceptionTranslator
                .notConnected((failure != null) ? failure : new IllegalStateException("The connection is lost"))));
            this.busy.set(false);
            return;
        }
        try {
            RedisAsyncCommands<byte[], byte[]> commands = open.async();
            batch.forEach((call) -> call.send(commands));
            RedisFuture<String> marked = commands.set(RedisKeys.markBeside(batch.get(0).firstKey()), NOTHING,
                    SetArgs.Builder.px(1));
            commands.waitForReplication(this.wait.replicas(), this.wait.timeout().toMillis())
                .toCompletableFuture()
                .thenCombine(marked, (replicas, ok) -> replicas)
                .orTimeout(this.limit.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((replicas, lost) -> settle(batch, replicas, lost));
        }
        catch (RuntimeException ex) {
            settle(batch, null, ex);
        }
    }

    private void settle(List<ReplicatedCall> batch, @Nullable Long replicas, @Nullable Throwable failure) {
        Throwable reason = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
                : failure;
        boolean broken = reason != null && !RedisExceptionTranslator.isReply(reason);
        List<Runnable> answers = new ArrayList<>(batch.size());
        for (ReplicatedCall call : batch) {
            Throwable failed = call.failure();
            if (failed == null) {
                answers.add((replicas != null && replicas >= this.wait.replicas()) ? call::complete
                        : () -> call.fail(notReplicated(replicas, reason)));
            }
            else if (call.needsText(failed)) {
                this.again.add(call);
            }
            else {
                broken |= call.wasSent() && RedisExceptionTranslator.isElsewhere(failed);
                answers.add(() -> call.fail(failed));
            }
        }
        try {
            if (broken) {
                this.whenBroken.run();
            }
        }
        finally {
            goOn();
            answers.forEach(Runnable::run);
        }
    }

    private void goOn() {
        List<ReplicatedCall> batch = this.again.isEmpty() ? List.of() : take();
        if (batch.isEmpty()) {
            this.busy.set(false);
            flush();
        }
        else {
            this.connection.whenComplete((open, failure) -> send(open, failure, batch));
        }
    }

    private NotReplicatedException notReplicated(@Nullable Long replicas, @Nullable Throwable failure) {
        String outcome = (replicas != null)
                ? "%d of %d replicas had it within %d ms".formatted(replicas, this.wait.replicas(),
                        this.wait.timeout().toMillis())
                : "whether %d replicas have it is not known: %s".formatted(this.wait.replicas(),
                        (failure != null) ? RedisExceptionTranslator.errorText(failure) : "no answer");
        return new NotReplicatedException("Stored, not replicated: " + outcome, failure);
    }

    /** Returns the calls that were not sent, to be sent elsewhere. */
    List<ReplicatedCall> takeUnsent() {
        List<ReplicatedCall> unsent = new ArrayList<>();
        for (ReplicatedCall next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
            next.queues(false);
            unsent.add(next);
        }
        return unsent;
    }

}
