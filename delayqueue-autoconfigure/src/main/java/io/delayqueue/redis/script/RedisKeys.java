package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.delayqueue.store.Partition;

/**
 * Names all keys and wake-up channels of a namespace, and lists the keys of a partition
 * in the order in which scripts take them. No other class builds a key.
 * <p>
 * The braces are a hash tag: Redis Cluster keeps all keys of a partition in one slot,
 * which scripts with several keys need.
 */
public final class RedisKeys {

    private static final String[] KINDS = { "messages", "scheduled", "wake", "partitions", "leased", "details",
            "attempts", "tokens", "successors", "dead-order", "dead-letters", "scheduled:priorities", "waiting",
            "group-heads", "primary", "revisions", "changes", "journal" };

    /** Follows those above; only calls that concern duplicate windows take it. */
    private static final String DUPLICATES = "duplicates";

    /** Follow those above, and only the scripts of schedules take them. */
    private static final String[] SCHEDULE_KINDS = { "schedules", "schedule-times", "schedule-skips",
            "schedule-declarations", "schedule-owners", "firing-node" };

    private static final int SEND = 4;

    private static final String DIRECTORY = "_directory";

    private final String stem;

    private final byte[][] all;

    private final byte[][] ofSend;

    private final byte[][] withDuplicates;

    private final byte[][] ofSchedules;

    public RedisKeys(String namespace, Partition partition) {
        this(namespace, partition.toString());
    }

    private RedisKeys(String namespace, String tag) {
        this.stem = namespace + ":{" + tag + "}:";
        this.all = new byte[KINDS.length][];
        for (int i = 0; i < KINDS.length; i++) {
            this.all[i] = bytes(this.stem + KINDS[i]);
        }
        this.ofSend = Arrays.copyOf(this.all, SEND);
        this.withDuplicates = Arrays.copyOf(this.all, KINDS.length + 1);
        this.withDuplicates[KINDS.length] = bytes(this.stem + DUPLICATES);
        this.ofSchedules = Arrays.copyOf(this.withDuplicates, KINDS.length + 1 + SCHEDULE_KINDS.length);
        for (int i = 0; i < SCHEDULE_KINDS.length; i++) {
            this.ofSchedules[KINDS.length + 1 + i] = bytes(this.stem + SCHEDULE_KINDS[i]);
        }
    }

    /**
     * Returns keys that no queue can have, as queue names do not begin with {@code _}.
     */
    public static RedisKeys ofProbe(String namespace, int number) {
        return new RedisKeys(namespace, tagOfProbe(number));
    }

    /** Returns the hash tag of a probe; each number has its own slot. */
    public static String tagOfProbe(int number) {
        return "_probe:" + number;
    }

    /**
     * Returns the keys of the whole namespace, in one slot. No queue can have this name.
     */
    public static byte[][] ofDirectory(String namespace) {
        String stem = namespace + ":{" + DIRECTORY + "}:";
        return new byte[][] { bytes(stem + "queues"), bytes(stem + "nodes"), bytes(stem + "seen"),
                bytes(secretOf(namespace)), bytes(stem + "schedules"), bytes(stem + "wanted"), bytes(stem + "stacks") };
    }

    /** Returns the keys of the activity of queues; no queue can have these names. */
    public static byte[][] ofActivity(String namespace) {
        String stem = namespace + ":{" + DIRECTORY + "}:activity";
        return new byte[][] { bytes(stem), bytes(stem + "-queues"), bytes(stem + "-nodes") };
    }

    /** Returns the key of the secret that the processes of a namespace share. */
    public static String secretOf(String namespace) {
        return namespace + ":{" + DIRECTORY + "}:secret";
    }

    /**
     * Returns all keys except those of duplicate windows and schedules; the array must
     * not be modified.
     */
    public byte[][] all() {
        return this.all;
    }

    /**
     * Returns the keys of a call that concerns duplicate windows; the array must not be
     * modified.
     */
    public byte[][] withDuplicates() {
        return this.withDuplicates;
    }

    /**
     * Returns all keys, which the scripts of schedules take; the array must not be
     * modified.
     */
    public byte[][] ofSchedules() {
        return this.ofSchedules;
    }

    /** Returns the keys that send.lua takes; the array must not be modified. */
    public byte[][] ofSend() {
        return this.ofSend;
    }

    /**
     * Returns a key in the slot of another one, for writes without meaning.
     * @param key of any queue
     */
    public static byte[] markBeside(byte[] key) {
        String name = new String(key, StandardCharsets.US_ASCII);
        return bytes(name.substring(0, name.indexOf("}:") + 2) + "replicated");
    }

    /** Returns the channel of wake-ups, named like the wake mark. */
    public String wake() {
        return this.stem + "wake";
    }

    /** Matches the channels of keyspace notifications of all lanes, in any database. */
    public String keyspacePattern() {
        return "__keyspace@*__:" + this.stem + "scheduled*";
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

}
