package io.delayqueue.benchmarks.limit;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Work;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * Takes what is due, a hundred at a time, and hands it over in its own thread. Nothing is
 * leased: what this process holds when it dies is lost. Threads: one runs it, others may
 * stop it.
 */
final class ClaimLoop implements Runnable {

    private static final String SCRIPT = """
            local time = redis.call('TIME')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            local ids = redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)
            if #ids == 0 then return ids end
            redis.call('ZREM', KEYS[2], unpack(ids))
            local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
            redis.call('HDEL', KEYS[1], unpack(ids))
            return bodies
            """;

    /** Between polls that find nothing; short, as there are no notifications. */
    private static final long PAUSE_NANOS = 1_000_000;

    private final RedisCommands<String, String> commands;

    private final String[] keys;

    private final Consumer<Work> handler;

    private volatile boolean stopped;

    ClaimLoop(RedisCommands<String, String> commands, String[] keys, Consumer<Work> handler) {
        this.commands = commands;
        this.keys = keys;
        this.handler = handler;
    }

    @Override
    public void run() {
        String digest = this.commands.scriptLoad(SCRIPT);
        while (!this.stopped) {
            List<String> bodies = this.commands.evalsha(digest, ScriptOutputType.MULTI, this.keys);
            bodies.forEach((body) -> this.handler.accept(Work.fromJson(body)));
            if (bodies.isEmpty()) {
                // Real time: this contender polls, as the least that a worker can do.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    void stop() {
        this.stopped = true;
    }

}
