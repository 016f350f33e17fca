package io.delayqueue.test.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

import io.delayqueue.test.TestNamespace;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SetCondition;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Empties a namespace in Redis, and keeps it for one tester by a key.
 * <p>
 * <strong>Threads.</strong> That of the test.
 */
final class RedisTestNamespace implements TestNamespace, AutoCloseable {

    /** Longer than a test method takes; each method renews it. */
    private static final Expiration OWNED = Expiration.from(Duration.ofMinutes(15));

    private static final int PAGE = 1000;

    private final RedisConnectionFactory connections;

    private final String namespace;

    private final byte[] ownerKey;

    private final byte[] owner = bytes(UUID.randomUUID().toString());

    RedisTestNamespace(RedisConnectionFactory connections, String namespace) {
        this.connections = connections;
        this.namespace = namespace;
        this.ownerKey = bytes(namespace + ":{_directory}:tester");
    }

    @Override
    public void clear() {
        try (RedisConnection connection = this.connections.getConnection()) {
            own(connection);
            if (connection instanceof RedisClusterConnection cluster) {
                for (RedisClusterNode node : cluster.clusterGetNodes()) {
                    if (node.isMaster()) {
                        try (Cursor<byte[]> keys = cluster.scan(node, pattern())) {
                            delete(connection, keys);
                        }
                    }
                }
                return;
            }
            try (Cursor<byte[]> keys = connection.keyCommands().scan(pattern())) {
                delete(connection, keys);
            }
        }
    }

    private void own(RedisConnection connection) {
        Boolean first = connection.stringCommands().set(this.ownerKey, this.owner, SetCondition.ifAbsent(), OWNED);
        if (!Boolean.TRUE.equals(first) && !isOwner(connection)) {
            throw new IllegalStateException(
                    ("Another DelayQueueTester uses the namespace '%s' of this Redis, and would "
                            + "empty it meanwhile. Give each context a namespace of its own (remove delayqueue.test.namespace), "
                            + "or, if that tester is gone, delete the key %s")
                        .formatted(this.namespace, new String(this.ownerKey, StandardCharsets.UTF_8)));
        }
        connection.stringCommands().set(this.ownerKey, this.owner, SetCondition.upsert(), OWNED);
    }

    private boolean isOwner(RedisConnection connection) {
        return Arrays.equals(this.owner, connection.stringCommands().get(this.ownerKey));
    }

    private ScanOptions pattern() {
        return ScanOptions.scanOptions().match(this.namespace + ":{*").count(PAGE).build();
    }

    private static void delete(RedisConnection connection, Cursor<byte[]> keys) {
        List<byte[]> found = new ArrayList<>();
        while (keys.hasNext()) {
            byte[] key = keys.next();
            if (!isSetting(new String(key, StandardCharsets.UTF_8))) {
                found.add(key);
            }
        }
        found.forEach((key) -> connection.keyCommands().unlink(key));
    }

    private static boolean isSetting(String key) {
        return key.endsWith("}:partitions") || key.endsWith("}:journal") || key.endsWith("{_directory}:tester")
                || key.endsWith("{_directory}:secret");
    }

    /** Lets another tester use the namespace. */
    @Override
    public void close() {
        try (RedisConnection connection = this.connections.getConnection()) {
            if (isOwner(connection)) {
                connection.keyCommands().del(this.ownerKey);
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

}
