package io.delayqueue.migrate.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.delayqueue.migrate.SourceException;
import io.delayqueue.migrate.SourceInUseException;
import io.delayqueue.migrate.SourceOptions;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the Redis of a source: one server, the master that sentinels name, or a
 * cluster, which is detected. Keys and values are bytes. Thread-safe.
 */
final class RedisLink implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final int SCANNED_AT_ONCE = 1_000;

    private static final List<String> PASSING = List.of("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
            "OOM", "BUSY", "NOREPLICAS", "MISCONF");

    private final RedisClusterCommands<byte[], byte[]> commands;

    private final Runnable shutdown;

    private RedisLink(RedisClusterCommands<byte[], byte[]> commands, Runnable shutdown) {
        this.commands = commands;
        this.shutdown = shutdown;
    }

    /**
     * Connects.
     * @throws IllegalArgumentException if the URL is not valid
     * @throws SourceException if the server cannot be reached, or refuses the connection
     */
    static RedisLink open(SourceOptions options) {
        List<RedisURI> uris = uris(options);
        List<String> failures = new ArrayList<>();
        @Nullable RedisException last = null;
        for (RedisURI uri : uris) {
            RedisClient client = RedisClient.create(uri);
            try {
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
                if (!connection.sync().info("cluster").contains("cluster_enabled:1")) {
                    return new RedisLink(connection.sync(), () -> client.shutdown(Duration.ZERO, TIMEOUT));
                }
                client.shutdown(Duration.ZERO, TIMEOUT);
                return openCluster(uris);
            }
            catch (RedisException ex) {
                client.shutdown(Duration.ZERO, TIMEOUT);
                failures.add("%s: %s".formatted(describe(uri), rootMessage(ex)));
                last = ex;
            }
        }
        throw new SourceException("Cannot connect to the Redis of the source at " + String.join("; ", failures), last);
    }

    private static RedisLink openCluster(List<RedisURI> uris) {
        RedisClusterClient client = RedisClusterClient.create(uris);
        try {
            StatefulRedisClusterConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
            return new RedisLink(connection.sync(), () -> client.shutdown(Duration.ZERO, TIMEOUT));
        }
        catch (RedisException ex) {
            client.shutdown(Duration.ZERO, TIMEOUT);
            throw ex;
        }
    }

    private static List<RedisURI> uris(SourceOptions options) {
        String[] parts = options.url().startsWith("redis-sentinel") ? new String[] { options.url() }
                : options.url().split(",");
        List<RedisURI> uris = new ArrayList<>();
        String scheme = parts[0].strip().replaceFirst("^([a-z]+://).*", "$1");
        for (String part : parts) {
            String url = part.strip();
            uris.add(uri(url.contains("://") ? url : scheme + url, options));
        }
        return uris;
    }

    private static RedisURI uri(String url, SourceOptions options) {
        RedisURI uri;
        try {
            uri = RedisURI.create(url);
        }
        catch (RuntimeException ex) {
            // Neither the URL nor the exception, which quotes it: it may contain a
            // password.
            throw new IllegalArgumentException("--source-url is not a URL of Redis: use redis://host:6379/0, "
                    + "rediss://host:6379 or redis-sentinel://host1:26379,host2:26379#master");
        }
        uri.setTimeout(TIMEOUT);
        setCredentials(uri, options);
        return uri;
    }

    /** Replaces the user of the URL, its password, or both by those that are given. */
    private static void setCredentials(RedisURI uri, SourceOptions options) {
        RedisCredentials inUrl = uri.getCredentialsProvider().resolveCredentials().block();
        String user = (options.user() != null || inUrl == null) ? options.user() : inUrl.getUsername();
        if (options.password() != null) {
            uri.setCredentialsProvider(new StaticCredentialsProvider(user, options.password().toCharArray()));
        }
        else if (inUrl != null && inUrl.hasPassword()) {
            uri.setCredentialsProvider(new StaticCredentialsProvider(user, inUrl.getPassword()));
        }
    }

    private static String describe(RedisURI uri) {
        return uri.getSentinels().isEmpty() ? "%s:%d".formatted(uri.getHost(), uri.getPort())
                : "the sentinels of '%s'".formatted(uri.getSentinelMasterId());
    }

    private static String rootMessage(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }

    /**
     * Returns whether a failure may pass: all but errors that Redis answers with, except
     * those of a server that loads its data, fails over or is full.
     */
    static boolean isPassing(RuntimeException failure) {
        if (failure instanceof RedisCommandExecutionException) {
            String message = String.valueOf(failure.getMessage());
            return PASSING.stream().anyMatch(message::contains);
        }
        return failure instanceof RedisException;
    }

    RedisClusterCommands<byte[], byte[]> commands() {
        return this.commands;
    }

    /**
     * Runs a script.
     * @param queue the queue whose keys these are
     * @throws SourceException if another process works on the queue
     */
    <T> T run(String queue, MigrationScript script, ScriptOutputType type, List<String> keys, List<byte[]> arguments) {
        byte[][] keyBytes = keys.stream().map(RedisLink::bytes).toArray(byte[][]::new);
        try {
            return this.commands.eval(script.text(), type, keyBytes, arguments.toArray(byte[][]::new));
        }
        catch (RedisCommandExecutionException ex) {
            if (String.valueOf(ex.getMessage()).contains("MIGRATEOWNER")) {
                throw new SourceInUseException(queue);
            }
            throw ex;
        }
    }

    /** Returns the keys that match a pattern, of all masters. */
    Set<String> scan(String pattern) {
        Set<String> keys = new TreeSet<>();
        ScanArgs arguments = ScanArgs.Builder.matches(pattern).limit(SCANNED_AT_ONCE);
        KeyScanCursor<byte[]> cursor = this.commands.scan(ScanCursor.INITIAL, arguments);
        cursor.getKeys().forEach((key) -> keys.add(text(key)));
        while (!cursor.isFinished()) {
            cursor = this.commands.scan(cursor, arguments);
            cursor.getKeys().forEach((key) -> keys.add(text(key)));
        }
        return keys;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    static List<byte[]> arguments(String... arguments) {
        return Arrays.stream(arguments).map(RedisLink::bytes).toList();
    }

    @Override
    public void close() {
        this.shutdown.run();
    }

}
