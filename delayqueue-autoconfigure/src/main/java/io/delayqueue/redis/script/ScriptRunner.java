package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Runs scripts on Redis with any client. The tests wrap it to pin the server's time. */
public interface ScriptRunner extends AutoCloseable {

    /**
     * Runs a script, and loads it if the server does not know it yet.
     * @param keys not changed
     * @return the reply, of {@code byte[]} and {@code Long}, within the time limit; fails
     * with a {@link io.delayqueue.DelayQueueException}
     */
    CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments);

    /**
     * Runs a script within a shorter time limit than usual. A client that applies its own
     * limit ignores this one.
     */
    default CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
        return run(script, keys, arguments);
    }

    /** Returns whether {@link #run} waits for the answer. */
    default boolean isBlocking() {
        return false;
    }

    @Override
    void close();

}
