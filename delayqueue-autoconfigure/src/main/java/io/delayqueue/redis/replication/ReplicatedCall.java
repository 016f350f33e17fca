package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.DelayQueueException;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScript;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Runs a script on a connection that waits for replicas.
 * <p>
 * <strong>Threads.</strong> Any creates it; then one at a time uses it. Its time limit
 * ends it on a thread of its own.
 */
final class ReplicatedCall {

    private final RedisScript script;

    private final byte[][] keys;

    private final byte[][] arguments;

    private final Duration limit;

    private final CompletableFuture<List<Object>> reply = new CompletableFuture<>();

    /** Whether the call was sent, or timed out before that. */
    private final AtomicBoolean begun = new AtomicBoolean();

    /** Whether the server needs the text instead of the digest. */
    private boolean unknown;

    private volatile @Nullable RedisFuture<List<Object>> sent;

    /** Whether the call is queued behind others on an open connection. */
    private volatile boolean queued;

    ReplicatedCall(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
        this.script = script;
        this.keys = keys;
        this.arguments = arguments;
        this.limit = limit;
        this.reply.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    byte[] firstKey() {
        return this.keys[0];
    }

    /** Records whether the call is queued behind others. */
    void queues(boolean queued) {
        this.queued = queued;
    }

    /** Returns whether the call is complete. */
    boolean isOver() {
        return this.reply.isDone();
    }

    boolean wasSent() {
        return this.sent != null;
    }

    /** Sends the call, unless its time limit has passed. */
    void send(RedisScriptingAsyncCommands<byte[], byte[]> commands) {
        if (this.begun.compareAndSet(false, true) || this.unknown) {
            this.sent = this.unknown
                    ? commands.eval(this.script.text(), ScriptOutputType.MULTI, this.keys, this.arguments)
                    : commands.evalsha(this.script.sha(), ScriptOutputType.MULTI, this.keys, this.arguments);
        }
    }

    /**
     * Returns why the script failed; {@code null} if it has run. A reply that is missing
     * when this is called will not come.
     */
    @Nullable Throwable failure() {
        RedisFuture<List<Object>> sent = this.sent;
        if (sent == null || !sent.toCompletableFuture().isDone()) {
            return new TimeoutException();
        }
        return sent.toCompletableFuture().isCompletedExceptionally()
                ? sent.toCompletableFuture().handle((values, failure) -> failure).join() : null;
    }

    /** Returns whether to send the whole script next, as the server does not know it. */
    boolean needsText(Throwable failure) {
        boolean first = !this.unknown && RedisExceptionTranslator.isUnknownScript(failure);
        this.unknown |= first;
        return first;
    }

    /** Completes the call: it has run, and replicas have it. */
    void complete() {
        RedisFuture<List<Object>> sent = this.sent;
        if (sent != null) {
            this.reply.complete(sent.toCompletableFuture().join());
        }
    }

    /** Fails the call; {@link #answer} translates failures of the client. */
    void fail(Throwable failure) {
        this.reply.completeExceptionally(failure);
    }

    CompletableFuture<List<Object>> answer() {
        return this.reply.handle((values, failure) -> {
            if (failure == null) {
                return values;
            }
            boolean unsent = this.begun.compareAndSet(false, true);
            if (failure instanceof TimeoutException && unsent) {
                throw this.queued ? RedisExceptionTranslator.notSent(this.script, failure, this.limit)
                        : RedisExceptionTranslator.notConnected(failure);
            }
            if (failure instanceof TimeoutException && failure() == null) {
                throw new NotReplicatedException(
                        "Stored, not replicated: replicas were not heard of within %d ms of the send"
                            .formatted(this.limit.toMillis()),
                        failure);
            }
            throw (failure instanceof DelayQueueException known) ? known
                    : RedisExceptionTranslator.translate(this.script, failure, this.limit);
        });
    }

}
