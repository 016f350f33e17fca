package io.delayqueue.redis.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Holds the scripts, read once from the class path, each with the declarations of the
 * prelude that it uses. They need Redis 6.2 or later (ZMSCORE, and ZRANGE with BYSCORE).
 */
public final class RedisScripts {

    private static final Prelude PRELUDE = Prelude.read(RedisScripts::read);

    public static final RedisScript SEND = load("send");

    public static final RedisScript SCHEDULE = load("schedule");

    public static final RedisScript CLAIM = load("claim");

    public static final RedisScript RESIGN_PRIMARY = load("resign-primary");

    public static final RedisScript ACKNOWLEDGE = load("acknowledge");

    public static final RedisScript EXTEND = load("extend");

    public static final RedisScript MARK_STARTED = load("mark-started");

    public static final RedisScript RETRY = load("retry");

    public static final RedisScript RELEASE = load("release");

    public static final RedisScript DEAD_LETTER = load("dead-letter");

    public static final RedisScript CANCEL = load("cancel");

    public static final RedisScript RESCHEDULE = load("reschedule");

    public static final RedisScript REDRIVE = load("redrive");

    public static final RedisScript PURGE = load("purge");

    public static final RedisScript CHANGES = load("changes");

    public static final RedisScript HELD_REVISIONS = load("held-revisions");

    public static final RedisScript RESTORE_DEAD_LETTERS = load("restore-dead-letters");

    public static final RedisScript FIND = load("find");

    public static final RedisScript STATISTICS = load("statistics");

    public static final RedisScript DEAD_LETTERS = load("dead-letters");

    public static final RedisScript QUEUES = load("queues");

    public static final RedisScript SECRET = load("secret");

    public static final RedisScript MESSAGES = load("messages");

    public static final RedisScript SCAN = load("scan");

    public static final RedisScript LOCATE = load("locate");

    public static final RedisScript NODES = load("nodes");

    public static final RedisScript RECORD_ACTIVITY = load("record-activity");

    public static final RedisScript RECORD_BACKLOG = load("record-backlog");

    public static final RedisScript READ_ACTIVITY = load("read-activity");

    public static final RedisScript WANTED_STATE = load("wanted-state");

    public static final RedisScript PARTITIONS = load("partitions");

    public static final RedisScript FIRE_SCHEDULES = load("fire-schedules");

    public static final RedisScript RESIGN_FIRING_NODE = load("resign-firing-node");

    public static final RedisScript CHANGE_SCHEDULE = load("change-schedule");

    public static final RedisScript DECLARE_SCHEDULES = load("declare-schedules");

    public static final RedisScript SCHEDULES = load("schedules");

    public static final RedisScript INSPECT_PARTITION = load("inspect-partition");

    public static final RedisScript INSPECT_MESSAGES = load("inspect-messages");

    public static final RedisScript CHECK_SERVER = load("check-server");

    private RedisScripts() {
    }

    private static RedisScript load(String name) {
        return RedisScript.of(name, PRELUDE.complete(read(name)));
    }

    private static String read(String name) {
        String file = name + ".lua";
        try (InputStream in = RedisScripts.class.getResourceAsStream("/io/delayqueue/redis/" + file)) {
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
