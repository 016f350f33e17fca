package io.delayqueue.test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;

/**
 * Runs the scripts of production with one function replaced: {@code clock} returns the
 * time that each call brings, instead of that of the server.
 * <p>
 * The time is part of the name of a further key, which each script removes from its keys
 * before it reads them: an argument would change the number of arguments, by which
 * scripts count their messages. So the text of a script stays the same, and Redis holds
 * one for all times.
 */
final class VirtualTimeScriptRunner implements ScriptRunner {

    private static final String CLOCK = """
            local function clock()
              local time = redis.call('TIME')
              return time[1] * 1000000 + time[2]
            end
            """;

    private static final String VIRTUAL_NOW = """
            local virtual_now = tonumber(string.match(table.remove(KEYS), '%d+$'))
            """;

    private static final String VIRTUAL_CLOCK = """
            local function clock()
              return virtual_now
            end
            """;

    /** Ends duplicate windows in real time; left out, as the tester empties the queue. */
    private static final String EXPIRY = """
              redis.pcall('PEXPIRE', DUPLICATES, to_digits(last - begin + 1))
            """;

    private static final String TIME = "virtual-time:";

    private final ScriptRunner redis;

    private final LongSupplier epochMicros;

    private final Map<RedisScript, RedisScript> replaced = new ConcurrentHashMap<>();

    VirtualTimeScriptRunner(ScriptRunner redis, LongSupplier epochMicros) {
        this.redis = redis;
        this.epochMicros = epochMicros;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        RedisScript virtual = this.replaced.computeIfAbsent(script, VirtualTimeScriptRunner::virtual);
        return this.redis.run(virtual, withTime(keys), arguments);
    }

    private static RedisScript virtual(RedisScript script) {
        String text = script.text().replace(CLOCK, VIRTUAL_CLOCK).replace(EXPIRY, "");
        boolean ownClock = text.contains("clock()") && !text.contains(VIRTUAL_CLOCK);
        if (ownClock || text.contains("'PEXPIRE', DUPLICATES")) {
            throw new IllegalStateException(
                    "Script '%s' uses the time in a way that this version of delayqueue-test ".formatted(script.name())
                            + "does not know: use the version of the library");
        }
        return RedisScript.of(script.name(), VIRTUAL_NOW + text);
    }

    /** Adds a key in the slot of the others. */
    private byte[][] withTime(byte[][] keys) {
        String first = new String(keys[0], StandardCharsets.US_ASCII);
        String time = first.substring(0, first.indexOf("}:") + 2) + TIME + this.epochMicros.getAsLong();
        byte[][] all = Arrays.copyOf(keys, keys.length + 1);
        all[keys.length] = time.getBytes(StandardCharsets.US_ASCII);
        return all;
    }

    @Override
    public boolean isBlocking() {
        return this.redis.isBlocking();
    }

    @Override
    public void close() {
        this.redis.close();
    }

}
