package io.delayqueue.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The scripts, read once from the class path, each with what it uses of the prelude. They
 * need Redis 6.2 or later (ZMSCORE, and ZRANGE with BYSCORE).
 */
final class RedisScripts {

    private static final Prelude PRELUDE = new Prelude(read("prelude"));

    static final RedisScript SEND = load("send");

    static final RedisScript SCHEDULE = load("schedule");

    static final RedisScript CLAIM = load("claim");

    static final RedisScript RESIGN = load("resign");

    static final RedisScript ACKNOWLEDGE = load("acknowledge");

    static final RedisScript EXTEND = load("extend");

    static final RedisScript START = load("start");

    static final RedisScript RETRY = load("retry");

    static final RedisScript RELEASE = load("release");

    static final RedisScript DEAD_LETTER = load("dead-letter");

    static final RedisScript CANCEL = load("cancel");

    static final RedisScript RESCHEDULE = load("reschedule");

    static final RedisScript REDRIVE = load("redrive");

    static final RedisScript PURGE = load("purge");

    static final RedisScript FIND = load("find");

    static final RedisScript STATISTICS = load("statistics");

    static final RedisScript DEAD_LETTERS = load("dead-letters");

    static final RedisScript HORIZON = load("horizon");

    static final RedisScript QUEUES = load("queues");

    static final RedisScript SECRET = load("secret");

    static final RedisScript MESSAGES = load("messages");

    static final RedisScript NODES = load("nodes");

    static final RedisScript PARTITIONS = load("partitions");

    static final RedisScript SURVEY = load("survey");

    static final RedisScript EXAMINE = load("examine");

    static final RedisScript PROBE = load("probe");

    private RedisScripts() {
    }

    private static RedisScript load(String name) {
        return RedisScript.of(name, PRELUDE.complete(read(name)));
    }

    private static String read(String name) {
        String file = name + ".lua";
        try (InputStream in = RedisScripts.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("Script '%s' is missing from the class path".formatted(file));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        catch (IOException ex) {
            throw new UncheckedIOException("Script '%s' cannot be read".formatted(file), ex);
        }
    }

}
