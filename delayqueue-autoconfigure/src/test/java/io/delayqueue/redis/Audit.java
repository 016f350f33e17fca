package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.store.Partition;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Looks at the keys of a queue for what scripts promise to keep: I1 to I6 of
 * schedule.lua.
 */
public final class Audit {

    private static final int FIRST_LANE = 11;

    private static final int FOLLOWERS = 20;

    private static final int HEADS = 21;

    /** The due time in the name of a follower, and what stands before and behind it. */
    private static final int DUE_LENGTH = 17;

    /** These are settings, which outlive messages. */
    private static final List<String> SETTINGS = List.of("partitions", "keeper");

    private final RedisConnectionFactory factory;

    private final byte[][] keys;

    public Audit(RedisConnectionFactory factory, String namespace, Partition queue) {
        this.factory = factory;
        this.keys = new RedisKeys(namespace, queue).all();
    }

    /** Fails if the structures disagree. */
    public void check() {
        try (RedisConnection connection = Connections.ofFixture(this.factory)) {
            List<String> placed = new ArrayList<>(sorted(connection, 1));
            for (int lane = FIRST_LANE; lane < FOLLOWERS; lane++) {
                placed.addAll(sorted(connection, lane));
            }
            Set<String> leased = sorted(connection, 4);
            placed.addAll(leased);
            checkGroups(connection, Set.copyOf(placed));
            sorted(connection, FOLLOWERS)
                .forEach((follower) -> placed.add(follower.substring(follower.indexOf(' ') + DUE_LENGTH)));
            assertThat(placed).as("I1: in one place").doesNotHaveDuplicates();
            Set<String> messages = hashed(connection, 0);
            assertThat(new TreeSet<>(placed)).as("I2: in a place if and only if stored").isEqualTo(messages);
            for (int detail = 5; detail <= 8; detail++) {
                assertThat(messages).as("I3: no detail without message, key %d", detail)
                    .containsAll(hashed(connection, detail));
            }
            assertThat(leased).as("I4: what follows a lease").containsAll(hashed(connection, 8));
            assertThat(leased).as("I4: renewed leases").containsAll(hashed(connection, 7));
            assertThat(sorted(connection, 9)).as("dead letters").isEqualTo(hashed(connection, 10));
            if (messages.isEmpty()) {
                assertThat(connection.keyCommands().exists(this.keys[2])).as("I5: wake mark").isFalse();
            }
        }
    }

    /** Fails unless each group has one head, and all others of it are followers. */
    private void checkGroups(RedisConnection connection, Set<String> inLaneOrLeased) {
        Map<String, String> heads = entries(connection, HEADS);
        Set<String> followers = sorted(connection, FOLLOWERS);
        Map<String, String> expectedHeads = new TreeMap<>();
        Set<String> expectedFollowers = new HashSet<>();
        entries(connection, 5).forEach((id, details) -> {
            String[] fields = details.split(":", 4);
            if (fields.length > 3 && inLaneOrLeased.contains(id)) {
                assertThat(expectedHeads.put(fields[3], id)).as("I6: one head of group %s", fields[3]).isNull();
            }
            else if (fields.length > 3) {
                expectedFollowers.add("%s %015d:%s".formatted(fields[3], Long.parseLong(fields[0]), id));
            }
        });
        assertThat(heads).as("I6: heads").isEqualTo(expectedHeads);
        assertThat(followers).as("I6: followers").isEqualTo(expectedFollowers);
        assertThat(followers).as("I6: behind a head")
            .allSatisfy((follower) -> assertThat(heads).containsKey(follower.substring(0, follower.indexOf(' '))));
    }

    /** Fails if a key is left. */
    public void checkNothingLeft() {
        try (RedisConnection connection = Connections.ofFixture(this.factory)) {
            for (byte[] key : this.keys) {
                assertThat(!isSetting(key) && connection.keyCommands().exists(key)).as(text(key)).isFalse();
            }
        }
    }

    private static boolean isSetting(byte[] key) {
        return SETTINGS.stream().anyMatch((setting) -> text(key).endsWith(":" + setting));
    }

    /** The keys that there are. */
    public Set<String> present() {
        Set<String> present = new TreeSet<>();
        try (RedisConnection connection = Connections.ofFixture(this.factory)) {
            for (byte[] key : this.keys) {
                if (!isSetting(key) && Boolean.TRUE.equals(connection.keyCommands().exists(key))) {
                    present.add(text(key));
                }
            }
        }
        return present;
    }

    private Set<String> sorted(RedisConnection connection, int key) {
        Set<String> members = new HashSet<>();
        connection.zSetCommands().zRange(this.keys[key], 0, -1).forEach((member) -> members.add(text(member)));
        return members;
    }

    private Map<String, String> entries(RedisConnection connection, int key) {
        Map<String, String> entries = new TreeMap<>();
        connection.hashCommands()
            .hGetAll(this.keys[key])
            .forEach((field, value) -> entries.put(text(field), text(value)));
        return entries;
    }

    private Set<String> hashed(RedisConnection connection, int key) {
        Set<String> fields = new TreeSet<>();
        connection.hashCommands().hKeys(this.keys[key]).forEach((field) -> fields.add(text(field)));
        return fields;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

}
