package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

import io.delayqueue.DelayQueueException;
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
 * that calls of many threads travel together and nobody waits who need not.
 * <p>
 * The connection comes from the application's connection factory but not through a
 * {@code RedisTemplate}: inside a Redis transaction of the caller's that would put the
 * script into the transaction.
 * <p>
 * A call whose time is up cancels its command, which takes it out of what Lettuce sends
 * again after a reconnect. Lettuce's timer says so, up to a few tenths of a second late.
 * <p>
 * <strong>Threads.</strong> {@code run} may be called from any thread. While a connection
 * is there it does not wait. Getting one does wait for the network, so it happens on a
 * thread of its own, one attempt at a time; calls that come meanwhile are sent in their
 * order, and before any later one.
 */
public final class LettuceScriptRunner implements ScriptRunner {

    /**
     * How long a link that is not open is used before the factory is asked for another.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final RedisConnectionFactory factory;

    private final Duration limit;

    private final ReentrantLock lock = new ReentrantLock();

    /** Calls that came while there was no link, the first first; guarded by the lock. */
    private final Deque<Call> waiting = new ArrayDeque<>();

    /** Whether a thread gets a link; guarded by the lock. */
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
        Call call = new Call(script, keys, arguments);
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

    /** The link; {@code null} if there is none, and the call waits for one. */
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

    /** Without a thread, the calls that wait fail, and the next one tries again. */
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
            Link fresh = Link.to(this.factory);
            List<Call> calls = waitingOr(fresh);
            while (!calls.isEmpty()) {
                // Before the link is there for others, or later calls would overtake.
                calls.forEach((call) -> call.send(fresh));
                calls = waitingOr(fresh);
            }
            if (old != null) {
                old.close();
            }
            if (this.closed) {
                fresh.close();
            }
        }
        catch (RuntimeException | Error ex) {
            waitingOr(null).forEach((call) -> call.fail(RedisExceptionTranslator.notConnected(ex)));
        }
    }

    /** The calls that wait; if there are none, or no link, the connecting is over. */
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

    private static Throwable unwrap(Throwable failure) {
        return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
    }

    /** A call under way. */
    private final class Call {

        private final RedisScript script;

        private final byte[][] keys;

        private final byte[][] arguments;

        private final CompletableFuture<List<Object>> reply = new CompletableFuture<>();

        /** Whether it was sent, or gave up waiting for that. */
        private final AtomicBoolean begun = new AtomicBoolean();

        private volatile @Nullable RedisFuture<?> command;

        private volatile @Nullable Timeout timeout;

        private volatile @Nullable Link sentBy;

        /** How often the link had lost its connection before. */
        private volatile int losses;

        Call(RedisScript script, byte[][] keys, byte[][] arguments) {
            this.script = script;
            this.keys = keys;
            this.arguments = arguments;
        }

        void send(Link link) {
            if (!this.begun.compareAndSet(false, true)) {
                return;
            }
            this.losses = link.lost.count();
            this.sentBy = link;
            try {
                // Unlike that of orTimeout, this timer wakes no thread for each call. But
                // it
                // makes connections anew as well, so nobody else's code may run on it.
                this.timeout = link.timer.newTimeout((timeout) -> link.expirer.execute(this::expire),
                        LettuceScriptRunner.this.limit.toNanos(), TimeUnit.NANOSECONDS);
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

        /** The server does not know the script, as after a restart: sends all of it. */
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

        /** A call that is not sent at once has its time limit from the beginning. */
        void expireUnsent() {
            this.reply.orTimeout(LettuceScriptRunner.this.limit.toNanos(), TimeUnit.NANOSECONDS);
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
                this.reply.completeExceptionally((failure != null) ? unwrap(failure) : new IllegalStateException());
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
                throw RedisExceptionTranslator.translate(this.script, unwrap(failure), LettuceScriptRunner.this.limit,
                        mayBeRepeated());
            });
        }

        /** Lettuce sends again what was under way when a connection was lost. */
        private boolean mayBeRepeated() {
            Link link = this.sentBy;
            return link != null && link.lost.count() != this.losses;
        }

    }

    /** A connection and its commands. */
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
        static Link to(RedisConnectionFactory factory) {
            RedisConnection connection = factory.getConnection();
            if (connection.getNativeConnection() instanceof AbstractRedisAsyncCommands<?, ?> commands) {
                return new Link(connection, (RedisClusterAsyncCommands<byte[], byte[]>) commands,
                        commands.getConnection(), new ConnectionLossCounter(commands.getConnection(), factory));
            }
            connection.close();
            throw new IllegalStateException("The native connection is none of Lettuce's");
        }

        /**
         * Whether to send with it. One that is not open may be about to connect again, or
         * may be of a factory that was stopped and started since.
         */
        boolean isUsable() {
            boolean gone = this.state instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
            return !gone && (this.state.isOpen() || System.nanoTime() - this.since < PATIENCE.toNanos());
        }

        void close() {
            this.lost.close();
            this.connection.close();
        }

    }

}
