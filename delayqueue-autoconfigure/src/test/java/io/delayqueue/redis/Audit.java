package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.delayqueue.engine.Partition;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Looks at the keys of a queue for what scripts promise to keep: I1 to I5 of
 * schedule.lua.
 */
final class Audit {

    private static final int FIRST_LANE = 10;

    private final RedisConnectionFactory factory;

    private final byte[][] keys;

    Audit(RedisConnectionFactory factory, String namespace, Partition queue) {
        this.factory = factory;
        this.keys = new RedisKeys(namespace, queue).all();
    }

    /** Fails if the structures disagree. */
    void check() {
        try (RedisConnection connection = this.factory.getConnection()) {
            List<String> placed = new ArrayList<>(sorted(connection, 1));
            for (int lane = FIRST_LANE; lane < this.keys.length; lane++) {
                placed.addAll(sorted(connection, lane));
            }
            Set<String> leased = sorted(connection, 2);
            placed.addAll(leased);
            assertThat(placed).as("I1: in one place").doesNotHaveDuplicates();
            Set<String> messages = hashed(connection, 0);
            assertThat(new TreeSet<>(placed)).as("I2: in a place if and only if stored").isEqualTo(messages);
            for (int detail = 4; detail <= 7; detail++) {
                assertThat(messages).as("I3: no detail without message, key %d", detail)
                    .containsAll(hashed(connection, detail));
            }
            assertThat(leased).as("I4: what follows a lease").containsAll(hashed(connection, 7));
            assertThat(leased).as("I4: renewed leases").containsAll(hashed(connection, 6));
            assertThat(sorted(connection, 8)).as("dead letters").isEqualTo(hashed(connection, 9));
            if (messages.isEmpty()) {
                assertThat(connection.keyCommands().exists(this.keys[3])).as("I5: wake mark").isFalse();
            }
        }
    }

    /** Fails if a key is left. */
    void checkNothingLeft() {
        try (RedisConnection connection = this.factory.getConnection()) {
            for (byte[] key : this.keys) {
                assertThat(connection.keyCommands().exists(key)).as(text(key)).isFalse();
            }
        }
    }

    /** The keys that there are. */
    Set<String> present() {
        Set<String> present = new TreeSet<>();
        try (RedisConnection connection = this.factory.getConnection()) {
            for (byte[] key : this.keys) {
                if (Boolean.TRUE.equals(connection.keyCommands().exists(key))) {
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

    private Set<String> hashed(RedisConnection connection, int key) {
        Set<String> fields = new TreeSet<>();
        connection.hashCommands().hKeys(this.keys[key]).forEach((field) -> fields.add(text(field)));
        return fields;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

}
