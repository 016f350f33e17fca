package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;

/**
 * Runs scripts on Redis with the server's time pinned, by a prelude that holds the time
 * instead of asking for it. Can run each script twice, as a connection does that lost a
 * reply.
 */
public final class PinnedTimeRunner implements ScriptRunner {

    private static final String TIME = "redis.call('TIME')";

    private final ScriptRunner redis;

    private final LongSupplier epochMicros;

    private volatile boolean twice;

    private final boolean asking;

    public PinnedTimeRunner(ScriptRunner redis, LongSupplier epochMicros) {
        this(redis, epochMicros, false);
    }

    private PinnedTimeRunner(ScriptRunner redis, LongSupplier epochMicros, boolean asking) {
        this.redis = redis;
        this.epochMicros = epochMicros;
        this.asking = asking;
    }

    /** Asks the server for its time where a script does so, and takes the other. */
    public static PinnedTimeRunner askingAllTheSame(ScriptRunner redis, LongSupplier epochMicros) {
        return new PinnedTimeRunner(redis, epochMicros, true);
    }

    /** Whether each script is run twice and answers as the second time. */
    void twice(boolean twice) {
        this.twice = twice;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        RedisScript pinned = pinned(script);
        CompletableFuture<List<Object>> reply = this.redis.run(pinned, keys, arguments);
        return this.twice ? reply.thenCompose((ignored) -> this.redis.run(pinned, keys, arguments)) : reply;
    }

    private RedisScript pinned(RedisScript script) {
        long now = this.epochMicros.getAsLong();
        String time = "{ '%d', '%d' }".formatted(now / 1_000_000, now % 1_000_000);
        String pinned = script.text().replace(TIME, this.asking ? TIME + " and " + time : time);
        if (!this.asking && pinned.contains("'TIME'")) {
            throw new AssertionError("The prelude asks for the time in another way than " + TIME);
        }
        return RedisScript.of(script.name(), pinned);
    }

    @Override
    public void close() {
        this.redis.close();
    }

}
