package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts in the calling thread by the commands of Spring Data, for clients other
 * than Lettuce. Takes a connection from the factory for each call instead of using a
 * {@code RedisTemplate}, which would add the script to a Redis transaction of the caller.
 * <p>
 * <strong>Threads.</strong> Any; {@code run} waits for the answer, so its future is
 * always complete. The time limit is the client's own. On a cluster the client silently
 * repeats calls whose connection was lost, so an error reply there does not prove that
 * nothing was changed.
 */
public final class BlockingScriptRunner implements ScriptRunner {

    private final RedisConnectionFactory factory;

    private final Duration limit;

    public BlockingScriptRunner(RedisConnectionFactory factory, Duration limit) {
        this.factory = factory;
        this.limit = limit;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        byte[][] both = new byte[keys.length + arguments.length][];
        System.arraycopy(keys, 0, both, 0, keys.length);
        System.arraycopy(arguments, 0, both, keys.length, arguments.length);
        RedisConnection connection;
        try {
            connection = this.factory.getConnection();
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(RedisExceptionTranslator.notConnected(ex));
        }
        try (connection) {
            return CompletableFuture.completedFuture(run(connection, script, keys.length, both));
        }
        catch (RuntimeException ex) {
            DelayQueueException failure = RedisExceptionTranslator.translate(script, ex, this.limit,
                    connection instanceof RedisClusterConnection);
            return CompletableFuture.failedFuture(failure);
        }
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    private static List<Object> run(RedisConnection connection, RedisScript script, int keys,
            byte[][] keysAndArguments) {
        Object reply;
        try {
            reply = connection.scriptingCommands().evalSha(script.sha(), ReturnType.VALUE, keys, keysAndArguments);
        }
        catch (RuntimeException ex) {
            if (!RedisExceptionTranslator.isUnknownScript(ex)) {
                throw ex;
            }
            byte[] text = script.text().getBytes(StandardCharsets.UTF_8);
            reply = connection.scriptingCommands().eval(text, ReturnType.VALUE, keys, keysAndArguments);
        }
        if (reply == null) {
            throw new IllegalStateException("Redis gave no reply, as in a transaction");
        }
        return (reply instanceof List<?> values) ? new ArrayList<>(values) : List.of(reply);
    }

    @Override
    public void close() {
        // Holds nothing between calls.
    }

}
