package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

import io.delayqueue.DelayQueueException;
import io.delayqueue.store.StoreFailures;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs scripts on the asynchronous connection that Lettuce shares among all threads, so
 * that concurrent calls are pipelined and no thread blocks.
 * <p>
 * The connection comes from the application's connection factory but not through a {@code
 * RedisTemplate}, which would add the script to a Redis transaction of the caller.
 * <p>
 * A call that times out cancels its command, so that Lettuce does not send it again after
 * a reconnect. Lettuce's timer may fire a few tenths of a second late.
 * <p>
 * <strong>Threads.</strong> {@code run} may be called from any thread and does not block
 * while a connection is open. A thread of its own makes connections, one attempt at a
 * time; calls made meanwhile are sent in order, before any later call.
 */
public final class LettuceScriptRunner implements ScriptRunner {

    /**
     * How long after its creation a closed link is still used: it may be reconnecting.
     */
    private static final Duration RECONNECT_GRACE = Duration.ofSeconds(1);

    private final RedisConnectionFactory factory;

    private final Duration limit;

    private final ReentrantLock lock = new ReentrantLock();

    /** Calls made while there was no link, in order; guarded by the lock. */
    private final Deque<Call> waiting = new ArrayDeque<>();

    /** Whether a thread is making a link; guarded by the lock. */
    private boolean connecting;

    /** Changed under the lock only. */
    private volatile @Nullable Link link;

    private volatile boolean closed;

    public LettuceScriptRunner(RedisConnectionFactory factory, Duration limit) {
        this.factory = factory;
        this.limit = limit;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        return run(script, keys, arguments, this.limit);
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
        Call call = new Call(script, keys, arguments, limit);
        Link current = this.link;
        if (current == null || !current.isUsable()) {
            current = linkOrWait(call);
        }
        if (current != null) {
            call.send(current);
        }
        else {
            call.expireUnsent();
        }
        return call.answer();
    }

    /** Returns the link; {@code null} if there is none and the call was queued. */
    private @Nullable Link linkOrWait(Call call) {
        this.lock.lock();
        try {
            Link current = this.link;
            if (!this.connecting && current != null && current.isUsable()) {
                return current;
            }
            this.waiting.add(call);
            if (!this.connecting) {
                this.connecting = true;
                this.link = null;
                Thread thread = new Thread(() -> connect(current), "delayqueue-connect");
                thread.setDaemon(true);
                start(thread);
            }
            return null;
        }
        finally {
            this.lock.unlock();
        }
    }

    /**
     * Starts the thread; if that fails, the queued calls fail and the next call starts
     * one.
     */
    private void start(Thread thread) {
        try {
            thread.start();
        }
        catch (OutOfMemoryError ex) {
            waitingOr(null).forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(ex)));
        }
    }

    private void connect(@Nullable Link old) {
        try {
            Link fresh = Link.to(this.factory, old);
            List<Call> calls = waitingOr(fresh);
            while (!calls.isEmpty()) {
                // Before the link is visible to others, or later calls would overtake.
                calls.forEach((call) -> call.send(fresh));
                calls = waitingOr(fresh);
            }
            if (old != null) {
                old.replacedBy(fresh);
            }
            if (this.closed) {
                fresh.close();
            }
        }
        catch (RuntimeException | Error ex) {
            waitingOr(null).forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(ex)));
        }
    }

    /** Returns the queued calls; ends the connecting if there are none, or no link. */
    private List<Call> waitingOr(@Nullable Link fresh) {
        this.lock.lock();
        try {
            List<Call> calls = List.copyOf(this.waiting);
            this.waiting.clear();
            if (fresh == null || calls.isEmpty()) {
                this.link = fresh;
                this.connecting = false;
            }
            return calls;
        }
        finally {
            this.lock.unlock();
        }
    }

    @Override
    public void close() {
        this.closed = true;
        Link current = this.link;
        if (current != null) {
            current.close();
        }
    }

    /** Holds the state of a call. */
    private final class Call {

        private final RedisScript script;

        private final byte[][] keys;

        private final byte[][] arguments;

        private final Duration limit;

        private final CompletableFuture<List<Object>> reply = new CompletableFuture<>();

        /** Whether the call was sent, or timed out before that. */
        private final AtomicBoolean begun = new AtomicBoolean();

        private volatile @Nullable RedisFuture<?> command;

        private volatile @Nullable Timeout timeout;

        private volatile @Nullable Link sentBy;

        /** How many connections the link had lost before the call. */
        private volatile int losses;

        Call(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
            this.script = script;
            this.keys = keys;
            this.arguments = arguments;
            this.limit = limit;
        }

        void send(Link link) {
            if (!this.begun.compareAndSet(false, true)) {
                return;
            }
            this.losses = link.lost.count();
            this.sentBy = link;
            try {
                // Unlike that of orTimeout, this timer wakes no thread for each call. But
                // it also makes connections, so only short tasks of Lettuce may run on
                // it.
                this.timeout = link.timer.newTimeout((timeout) -> link.expirer.execute(this::expire),
                        this.limit.toNanos(), TimeUnit.NANOSECONDS);
                RedisFuture<List<Object>> sent = link.commands.evalsha(this.script.sha(), ScriptOutputType.MULTI,
                        this.keys, this.arguments);
                this.command = sent;
                sent.whenComplete((values, failure) -> {
                    if (failure != null && RedisExceptionTranslator.isUnknownScript(failure)) {
                        load(link);
                    }
                    else {
                        settle(values, failure);
                    }
                });
                cancelIfLate(sent);
            }
            catch (RuntimeException ex) {
                settle(null, ex);
            }
        }

        /**
         * Sends the whole script, as the server does not know it, for example after a
         * restart.
         */
        private void load(Link link) {
            try {
                RedisFuture<List<Object>> sent = link.commands.eval(this.script.text(), ScriptOutputType.MULTI,
                        this.keys, this.arguments);
                this.command = sent;
                sent.whenComplete(this::settle);
                cancelIfLate(sent);
            }
            catch (RuntimeException ex) {
                settle(null, ex);
            }
        }

        /** Starts the time limit of a call that is not sent at once. */
        void expireUnsent() {
            this.reply.orTimeout(this.limit.toNanos(), TimeUnit.NANOSECONDS);
        }

        private void expire() {
            this.reply.completeExceptionally(new TimeoutException());
        }

        void fail(DelayQueueException failure) {
            this.reply.completeExceptionally(failure);
        }

        private void cancelIfLate(RedisFuture<?> sent) {
            if (this.reply.isDone()) {
                sent.cancel(false);
            }
        }

        private void settle(@Nullable List<Object> values, @Nullable Throwable failure) {
            if (values != null) {
                this.reply.complete(values);
            }
            else {
                this.reply.completeExceptionally(
                        (failure != null) ? StoreFailures.unwrap(failure) : new IllegalStateException());
            }
        }

        CompletableFuture<List<Object>> answer() {
            return this.reply.handle((values, failure) -> {
                Timeout timeout = this.timeout;
                if (timeout != null) {
                    timeout.cancel();
                }
                if (failure == null) {
                    return values;
                }
                if (this.begun.compareAndSet(false, true) && failure instanceof TimeoutException) {
                    throw RedisExceptionTranslator.notConnected(failure);
                }
                RedisFuture<?> sent = this.command;
                if (sent != null) {
                    sent.cancel(false);
                }
                throw RedisExceptionTranslator.translate(this.script, StoreFailures.unwrap(failure), this.limit,
                        mayBeRepeated());
            });
        }

        /**
         * Returns whether Lettuce may have sent the call twice, after a lost connection.
         */
        private boolean mayBeRepeated() {
            Link link = this.sentBy;
            return link != null && link.lost.count() != this.losses;
        }

    }

    /** Holds a connection and its commands. */
    private static final class Link {

        private final RedisConnection connection;

        private final RedisClusterAsyncCommands<byte[], byte[]> commands;

        private final StatefulConnection<?, ?> state;

        private final Timer timer;

        private final Executor expirer;

        private final long since = System.nanoTime();

        private final ConnectionLossCounter lost;

        private Link(RedisConnection connection, RedisClusterAsyncCommands<byte[], byte[]> commands,
                StatefulConnection<?, ?> state, ConnectionLossCounter lost) {
            this.connection = connection;
            this.commands = commands;
            this.state = state;
            this.timer = state.getResources().timer();
            this.expirer = state.getResources().eventExecutorGroup();
            this.lost = lost;
        }

        @SuppressWarnings("unchecked") // Spring Data's connections speak bytes
        static Link to(RedisConnectionFactory factory, @Nullable Link old) {
            RedisConnection connection = factory.getConnection();
            if (connection.getNativeConnection() instanceof AbstractRedisAsyncCommands<?, ?> commands) {
                StatefulConnection<?, ?> state = commands.getConnection();
                // Calls of the former link may be pending, and count its losses.
                ConnectionLossCounter lost = (old != null && old.state == state) ? old.lost
                        : new ConnectionLossCounter(state, factory);
                return new Link(connection, (RedisClusterAsyncCommands<byte[], byte[]>) commands, state, lost);
            }
            connection.close();
            throw new IllegalStateException("The native connection is none of Lettuce's");
        }

        /**
         * Returns whether to send with it. A link that is not open may be reconnecting,
         * or may belong to a factory that was restarted since.
         */
        boolean isUsable() {
            boolean gone = this.state instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
            return !gone && (this.state.isOpen() || System.nanoTime() - this.since < RECONNECT_GRACE.toNanos());
        }

        /** Closes the link, but not the counter that another one still uses. */
        void replacedBy(Link other) {
            if (this.lost != other.lost) {
                this.lost.close();
            }
            this.connection.close();
        }

        void close() {
            this.lost.close();
            this.connection.close();
        }

    }

}
