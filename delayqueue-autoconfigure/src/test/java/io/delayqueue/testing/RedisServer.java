package io.delayqueue.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * One Redis server on loopback, ready when returned. Threads: safe, though two threads
 * that kill and restart the same server get what they deserve.
 */
public final class RedisServer implements AutoCloseable {

    private static final int START_ATTEMPTS = 5;

    private static final Map<RedisBinary, RedisServer> SHARED = new EnumMap<>(RedisBinary.class);

    private final RedisURI uri;

    private final @Nullable RedisProcess process;

    private final boolean shared;

    private @Nullable StatefulRedisConnection<String, String> connection;

    private RedisServer(RedisURI uri, @Nullable RedisProcess process, boolean shared) {
        this.uri = uri;
        this.process = process;
        this.shared = shared;
    }

    /**
     * Starts a server of the caller's own, empty and without persistence. Close it.
     * @param settings lines of redis.conf, such as {@code "appendonly yes"}
     */
    public static RedisServer start(RedisBinary binary, String... settings) {
        return launch(binary, withDefaults(binary, settings), List.of(), false);
    }

    /**
     * Starts a server that goes by a clock of the test's.
     */
    public static RedisServer start(RedisBinary binary, SteppedClock clock, String... settings) {
        return launch(clock.shownTo(binary.path()), withDefaults(binary, settings), List.of(), false);
    }

    static RedisServer startSentinel(RedisBinary binary, List<String> settings) {
        return launch(binary, settings, List.of("--sentinel"), false);
    }

    /**
     * The server of the binary that all tests of this JVM use, started when first asked
     * for. Its users keep to keys of their own, and cannot stop it.
     */
    public static RedisServer shared(RedisBinary binary) {
        synchronized (SHARED) {
            RedisServer server = SHARED.get(binary);
            if (server == null) {
                server = (binary != RedisBinary.AT_URL) ? launch(binary, withDefaults(binary), List.of(), true)
                        : atUrl();
                SHARED.put(binary, server);
            }
            return server;
        }
    }

    private static RedisServer atUrl() {
        String url = System.getProperty(RedisBinary.URL_PROPERTY);
        if (url == null) {
            return Assumptions.abort("No -D%s given".formatted(RedisBinary.URL_PROPERTY));
        }
        RedisURI uri = RedisURI.create(url);
        uri.setTimeout(Lettuce.COMMAND_TIMEOUT);
        RedisServer server = new RedisServer(uri, null, true);
        server.commands().ping();
        if (RedisUser.isAsked()) {
            RedisUser.allowOn(server);
        }
        return server;
    }

    private static List<String> withDefaults(RedisBinary binary, String... settings) {
        List<String> lines = new ArrayList<>(List.of("save \"\"", "repl-diskless-sync-delay 0"));
        if (binary != RedisBinary.AT_URL && binary.isAtLeast(7)) {
            // DEBUG works as it is in 6.2, which does not know this line.
            lines.add("enable-debug-command local");
        }
        if (RedisUser.isAsked()) {
            lines.add(RedisUser.inConfiguration());
        }
        lines.addAll(List.of(settings));
        return lines;
    }

    private static RedisServer launch(RedisBinary binary, List<String> settings, List<String> arguments,
            boolean shared) {
        Assumptions.assumeTrue(binary != RedisBinary.AT_URL, "The server at a URL cannot be started by a test");
        return launch(binary.path(), settings, arguments, shared);
    }

    private static RedisServer launch(Path executable, List<String> settings, List<String> arguments, boolean shared) {
        for (int attempt = 1;; attempt++) {
            int port = FreePorts.next();
            Path directory = TestDirectories.create("redis-" + port);
            RedisProcess process = new RedisProcess(executable, directory, port, settings, arguments);
            try {
                process.start();
                return new RedisServer(Lettuce.uri(port), process, shared);
            }
            catch (RuntimeException ex) {
                process.kill();
                if (attempt == START_ATTEMPTS || !process.failedToBind()) {
                    throw ex;
                }
            }
        }
    }

    public String host() {
        return this.uri.getHost();
    }

    public int port() {
        return this.uri.getPort();
    }

    /**
     * A new URI of this server, free to change.
     */
    public RedisURI uri() {
        return RedisURI.builder(this.uri).build();
    }

    /**
     * Commands on the fixture's own connection, which survives restarts.
     */
    public synchronized RedisCommands<String, String> commands() {
        if (this.connection == null) {
            this.connection = Lettuce.connect(this.uri);
        }
        return this.connection.sync();
    }

    /**
     * Where its configuration, log and data are.
     */
    public Path directory() {
        return own().directory();
    }

    public long pid() {
        return own().pid();
    }

    public boolean isAlive() {
        return (this.process == null) || this.process.isAlive();
    }

    /**
     * Kills it with SIGKILL; on return it is gone.
     */
    public void kill() {
        own().kill();
    }

    /**
     * Starts it again on the same port and directory, killing it first if it runs.
     */
    public void restart() {
        own().kill();
        own().start();
    }

    /**
     * Stops it with SIGSTOP: clients stay connected and get no answer.
     */
    public void suspend() {
        own().signal("STOP");
    }

    /**
     * Lets it go on after {@link #suspend()}.
     */
    public void resume() {
        own().signal("CONT");
    }

    /**
     * Kills it, unless it is shared: that one goes on until the JVM ends.
     */
    @Override
    public synchronized void close() {
        if (this.shared) {
            return;
        }
        if (this.connection != null) {
            this.connection.close();
            this.connection = null;
        }
        own().kill();
    }

    @Override
    public String toString() {
        return "Redis at %s:%d".formatted(host(), port());
    }

    private RedisProcess own() {
        if (this.shared || this.process == null) {
            throw new IllegalStateException("%s is shared: start a server of your own to do this".formatted(this));
        }
        return this.process;
    }

}
