package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.SendReplies;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Sends one script call of a pipeline, and completes it once the pipeline reports that
 * the replicas have its writes. A call that has stored nothing needs no replicas.
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

    /** Whether the call was sent, or is complete without that. */
    private final AtomicBoolean begun = new AtomicBoolean();

    /** Whether the server needs the text instead of the digest. */
    private boolean needsText;

    private volatile @Nullable CompletableFuture<List<Object>> sent;

    /** Whether other calls delay this one, not the connection. */
    private volatile boolean behindOthers;

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

    /** Records whether the call is queued behind others on an open connection. */
    void isBehindOthers(boolean behindOthers) {
        this.behindOthers = behindOthers;
    }

    /**
     * Sends the call, unless its time limit has passed.
     * @return whether there is a reply to wait for
     */
    boolean send(RedisScriptingAsyncCommands<byte[], byte[]> commands) {
        if (this.reply.isDone() || !(this.begun.compareAndSet(false, true) || this.needsText)) {
            return false;
        }
        try {
            RedisFuture<List<Object>> future = this.needsText
                    ? commands.eval(this.script.text(), ScriptOutputType.MULTI, this.keys, this.arguments)
                    : commands.evalsha(this.script.sha(), ScriptOutputType.MULTI, this.keys, this.arguments);
            this.sent = future.toCompletableFuture();
        }
        catch (Throwable ex) {
            // An error as well, or its connection would wait for this call without end.
            this.sent = CompletableFuture.failedFuture(ex);
        }
        return true;
    }

    /**
     * Returns why the script failed; {@code null} if it has run.
     * @param missing returned if there is no reply; none will come
     */
    @Nullable Throwable failure(@Nullable Throwable missing) {
        CompletableFuture<List<Object>> sent = this.sent;
        if (sent == null || !sent.isDone()) {
            return (missing != null) ? missing : new TimeoutException();
        }
        return sent.isCompletedExceptionally() ? sent.handle((values, failure) -> failure).join() : null;
    }

    /** Returns whether to send the whole script next, as the server does not know it. */
    boolean needsText(Throwable failure) {
        boolean first = !this.needsText && RedisExceptionTranslator.isUnknownScript(failure);
        this.needsText |= first;
        return first;
    }

    /** Completes the call: it has run, and replicas have it. */
    void complete() {
        CompletableFuture<List<Object>> sent = this.sent;
        if (sent != null) {
            this.reply.complete(sent.join());
        }
    }

    /**
     * Fails the call. {@link #answer} translates failures of the client, and ignores
     * missing replicas if nothing was stored.
     */
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
                throw this.behindOthers ? RedisExceptionTranslator.notSent(this.script, failure, this.limit)
                        : RedisExceptionTranslator.notConnected(failure);
            }
            if (failure instanceof TimeoutException && failure(failure) == null) {
                return unreplicated(
                        new NotReplicatedException("Stored, not replicated: no answer to WAIT within %d ms of the send"
                            .formatted(this.limit.toMillis()), failure));
            }
            if (failure instanceof NotReplicatedException missing) {
                return unreplicated(missing);
            }
            throw (failure instanceof DelayQueueException known) ? known
                    : RedisExceptionTranslator.translate(this.script, failure, this.limit);
        });
    }

    /**
     * Returns the reply of a script that has stored nothing, as its caller has to read
     * what to do next; otherwise fails.
     * @param failure the exception if all messages are stored
     */
    private List<Object> unreplicated(NotReplicatedException failure) {
        List<Object> reply = Objects.requireNonNull(this.sent).join();
        Effect effect = SendReplies.effect(this.script, reply);
        if (effect == Effect.NONE) {
            return reply;
        }
        throw (effect == Effect.STORED) ? failure
                : new StoreUnavailableException(
                        "Only some messages of '%s' are stored; send all of them again with their ids. %s"
                            .formatted(this.script.name(), failure.getMessage()),
                        Effect.UNKNOWN, failure.getCause());
    }

}
