package io.delayqueue.test.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.delayqueue.test.TestNamespace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SetCondition;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Empties a namespace in Redis, and reserves it for one tester by a key. Another tester
 * may use the namespace once this context is paused or closed. A generated namespace,
 * which no other context will use, is removed when its context is closed; that of a
 * paused one remains, as its connections are stopped.
 * <p>
 * <strong>Threads.</strong> That of the test; those that stop and close the context.
 */
final class RedisTestNamespace implements TestNamespace, SmartLifecycle, ApplicationListener<ContextClosedEvent> {

    private static final Logger logger = LoggerFactory.getLogger(RedisTestNamespace.class);

    /** Stops after the listeners, and before the connections, whose phase is zero. */
    private static final int PHASE = 1;

    /** Longer than a test method takes; each method renews it. */
    private static final Expiration OWNED = Expiration.from(Duration.ofMinutes(15));

    private static final int PAGE = 1000;

    private final RedisConnectionFactory connections;

    private final String namespace;

    private final ApplicationContext context;

    private final boolean generated;

    private final Duration stopTimeout;

    private final byte[] ownerKey;

    private final byte[] owner = bytes(UUID.randomUUID().toString());

    private volatile boolean running;

    private volatile boolean closing;

    /**
     * Creates a namespace.
     * @param context the context whose tester uses it
     * @param generated whether the name is that of this context alone
     * @param stopTimeout how long a stop waits for Redis, which may have ended before
     */
    RedisTestNamespace(ApplicationContext context, RedisConnectionFactory connections, String namespace,
            boolean generated, Duration stopTimeout) {
        this.context = context;
        this.connections = connections;
        this.namespace = namespace;
        this.generated = generated;
        this.stopTimeout = stopTimeout;
        this.ownerKey = bytes(namespace + ":{_directory}:tester");
    }

    @Override
    public void clear() {
        try (RedisConnection connection = this.connections.getConnection()) {
            own(connection);
            delete(connection, false);
        }
    }

    private void delete(RedisConnection connection, boolean settings) {
        if (connection instanceof RedisClusterConnection cluster) {
            for (RedisClusterNode node : cluster.clusterGetNodes()) {
                if (node.isMaster()) {
                    try (Cursor<byte[]> keys = cluster.scan(node, pattern())) {
                        delete(connection, keys, settings);
                    }
                }
            }
            return;
        }
        try (Cursor<byte[]> keys = connection.keyCommands().scan(pattern())) {
            delete(connection, keys, settings);
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

    private static void delete(RedisConnection connection, Cursor<byte[]> keys, boolean settings) {
        List<byte[]> found = new ArrayList<>();
        while (keys.hasNext()) {
            byte[] key = keys.next();
            if (settings || !isSetting(new String(key, StandardCharsets.UTF_8))) {
                found.add(key);
            }
        }
        found.forEach((key) -> connection.keyCommands().unlink(key));
    }

    private static boolean isSetting(String key) {
        return key.endsWith("}:partitions") || key.endsWith("}:journal") || key.endsWith("{_directory}:tester")
                || key.endsWith("{_directory}:secret");
    }

    @Override
    public void start() {
        this.running = true;
    }

    /** Notes that the context will not start again. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        // Those of child contexts come here as well.
        this.closing |= event.getApplicationContext() == this.context;
    }

    /** Releases the namespace; removes it if no other context can use it. */
    @Override
    public void stop() {
        this.running = false;
        try {
            CompletableFuture.runAsync(this::release).get(this.stopTimeout.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        catch (Exception ex) {
            logger.debug("Namespace '{}' was not released, which Redis does in 15 minutes", this.namespace, ex);
        }
    }

    private void release() {
        try (RedisConnection connection = this.connections.getConnection()) {
            if (!isOwner(connection)) {
                return;
            }
            if (this.generated && this.closing) {
                delete(connection, true);
            }
            connection.keyCommands().del(this.ownerKey);
        }
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

}
