package io.delayqueue.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
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
 * again after a reconnect.
 * <p>
 * <strong>Threads.</strong> {@code run} may be called from any thread. While a connection
 * is there it does not wait. Getting one does wait for the network, so it happens on a
 * thread of its own, one attempt at a time, shared by all callers.
 */
final class LettuceScriptRunner implements ScriptRunner {

    private final RedisConnectionFactory factory;

    private final Duration limit;

    private final AtomicReference<@Nullable CompletableFuture<Link>> connecting = new AtomicReference<>();

    private volatile @Nullable Link link;

    private volatile boolean closed;

    LettuceScriptRunner(RedisConnectionFactory factory, Duration limit) {
        this.factory = factory;
        this.limit = limit;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        Call call = new Call(script, keys, arguments);
        Link current = this.link;
        if (current != null && current.isOpen()) {
            call.send(current);
        }
        else {
            connect().whenComplete((fresh, failure) -> {
                if (failure != null) {
                    call.reply.completeExceptionally(RedisFailures.notConnected(unwrap(failure)));
                }
                else {
                    call.send(fresh);
                }
            });
        }
        return call.answer();
    }

    private CompletableFuture<Link> connect() {
        CompletableFuture<Link> mine = new CompletableFuture<>();
        CompletableFuture<Link> pending = this.connecting.compareAndExchange(null, mine);
        if (pending != null) {
            return pending;
        }
        Thread thread = new Thread(() -> connect(mine), "delayqueue-connect");
        thread.setDaemon(true);
        thread.start();
        return mine;
    }

    private void connect(CompletableFuture<Link> result) {
        Link fresh = null;
        Throwable failure = null;
        try {
            fresh = Link.to(this.factory);
            replace(fresh);
        }
        catch (RuntimeException | Error ex) {
            failure = ex;
        }
        this.connecting.set(null);
        if (fresh != null) {
            result.complete(fresh);
        }
        else {
            result.completeExceptionally((failure != null) ? failure : new IllegalStateException());
        }
    }

    private void replace(Link fresh) {
        Link old = this.link;
        this.link = fresh;
        if (old != null) {
            old.close();
        }
        if (this.closed) {
            fresh.close();
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

        private volatile @Nullable RedisFuture<?> command;

        Call(RedisScript script, byte[][] keys, byte[][] arguments) {
            this.script = script;
            this.keys = keys;
            this.arguments = arguments;
        }

        void send(Link link) {
            if (this.reply.isDone()) {
                return;
            }
            try {
                RedisFuture<List<Object>> sent = link.commands.evalsha(this.script.sha(), ScriptOutputType.MULTI,
                        this.keys, this.arguments);
                this.command = sent;
                sent.whenComplete((values, failure) -> {
                    if (failure != null && RedisFailures.isUnknownScript(failure)) {
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
            return this.reply.orTimeout(LettuceScriptRunner.this.limit.toNanos(), TimeUnit.NANOSECONDS)
                .handle((values, failure) -> {
                    if (failure == null) {
                        return values;
                    }
                    RedisFuture<?> sent = this.command;
                    if (sent != null) {
                        sent.cancel(false);
                    }
                    throw RedisFailures.translate(this.script, unwrap(failure), LettuceScriptRunner.this.limit);
                });
        }

    }

    /** A connection and its commands. */
    private static final class Link {

        private final RedisConnection connection;

        private final RedisClusterAsyncCommands<byte[], byte[]> commands;

        private final StatefulConnection<?, ?> state;

        private Link(RedisConnection connection, RedisClusterAsyncCommands<byte[], byte[]> commands,
                StatefulConnection<?, ?> state) {
            this.connection = connection;
            this.commands = commands;
            this.state = state;
        }

        @SuppressWarnings("unchecked") // Spring Data's connections speak bytes
        static Link to(RedisConnectionFactory factory) {
            RedisConnection connection = factory.getConnection();
            if (connection.getNativeConnection() instanceof AbstractRedisAsyncCommands<?, ?> commands) {
                return new Link(connection, (RedisClusterAsyncCommands<byte[], byte[]>) commands,
                        commands.getConnection());
            }
            connection.close();
            throw new IllegalStateException("The native connection is none of Lettuce's");
        }

        boolean isOpen() {
            return this.state.isOpen();
        }

        void close() {
            this.connection.close();
        }

    }

}
