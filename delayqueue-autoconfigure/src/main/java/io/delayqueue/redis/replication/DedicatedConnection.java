package io.delayqueue.redis.replication;

import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Holds a connection to a master that one pipeline uses until it is lost. The client
 * would connect again and repeat a {@code WAIT} there: on another master, which may not
 * have the earlier writes, replicas would confirm at once. So a loss fails the answer
 * that is awaited, and closes the connection for good.
 * <p>
 * <strong>Threads.</strong> One at a time awaits an answer; the client's threads report
 * the loss.
 */
final class DedicatedConnection implements RedisConnectionStateListener {

    private final StatefulConnection<byte[], byte[]> owner;

    private final StatefulRedisConnection<byte[], byte[]> connection;

    private volatile @Nullable CompletableFuture<?> awaited;

    private volatile boolean lost;

    DedicatedConnection(StatefulRedisConnection<byte[], byte[]> connection) {
        this(connection, connection);
    }

    /**
     * Starts to watch a connection.
     * @param owner is closed with it
     */
    DedicatedConnection(StatefulConnection<byte[], byte[]> owner, StatefulRedisConnection<byte[], byte[]> connection) {
        this.owner = owner;
        this.connection = connection;
        connection.addListener(this);
    }

    RedisAsyncCommands<byte[], byte[]> commands() {
        return this.connection.async();
    }

    boolean isOpen() {
        return !this.lost && this.connection.isOpen();
    }

    /** Fails an answer if the connection is lost before it is complete. */
    void await(CompletableFuture<?> answer) {
        this.awaited = answer;
        if (this.lost) {
            fail(answer);
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
        this.lost = true;
        CompletableFuture<?> answer = this.awaited;
        if (answer != null) {
            fail(answer);
        }
        close();
    }

    private static void fail(CompletableFuture<?> answer) {
        answer.completeExceptionally(new RedisException("The connection was lost"));
    }

    void close() {
        this.owner.closeAsync();
    }

}
