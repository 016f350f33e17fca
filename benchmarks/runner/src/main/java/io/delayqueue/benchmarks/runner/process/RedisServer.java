package io.delayqueue.benchmarks.runner.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Redis of its own on a free port of the loopback interface, without persistence. It
 * dies with this JVM, whatever that dies of.
 */
public final class RedisServer implements AutoCloseable {

    // The JVM holds the other end of standard input: when that closes, the reader kills
    // Redis. When Redis ends by itself, so does the reader.
    private static final String GUARD = """
            exec 3<&0
            "$0" "$@" 3<&- >console.log 2>&1 &
            redis=$!
            (read _ <&3; kill -9 $redis) >/dev/null 2>&1 &
            reader=$!
            wait $redis
            kill $reader
            """;

    private static final long WAIT_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Process guard;

    private final int port;

    private final RedisLink link;

    private RedisServer(Process guard, int port, RedisLink link) {
        this.guard = guard;
        this.port = port;
        this.link = link;
    }

    /**
     * Starts one; on return it answers.
     * @param directory for its logs
     * @param settings further lines of its configuration
     */
    public static RedisServer start(RedisBinary binary, Path directory, String... settings) {
        try {
            int port = freePort();
            Files.createDirectories(directory);
            List<String> lines = new ArrayList<>(List.of("port " + port, "bind 127.0.0.1", "save \"\"", "appendonly no",
                    "logfile redis.log", "maxclients 20000"));
            lines.addAll(List.of(settings));
            Files.write(directory.resolve("redis.conf"), lines);
            Process guard = new ProcessBuilder("sh", "-c", GUARD, binary.path().toString(), "redis.conf")
                .directory(directory.toFile())
                .redirectError(directory.resolve("guard.log").toFile())
                .start();
            return new RedisServer(guard, port, connect(guard, port, directory));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static RedisLink connect(Process guard, int port, Path directory) throws IOException {
        long limit = System.nanoTime() + WAIT_LIMIT_NANOS;
        while (guard.isAlive() && System.nanoTime() < limit) {
            try {
                RedisLink link = new RedisLink(port);
                link.call("PING");
                return link;
            }
            catch (IOException ex) {
                // Real time: Redis, another process, starts.
                Pause.millis(10);
            }
        }
        guard.destroy();
        throw new IOException("Redis does not start: " + Files.readString(directory.resolve("console.log"))
                + Files.readString(directory.resolve("redis.log"), StandardCharsets.UTF_8));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    public int port() {
        return this.port;
    }

    /** A connection for looking at it. Threads: one at a time. */
    public RedisLink link() {
        return this.link;
    }

    @Override
    public void close() {
        try {
            this.link.close();
            this.guard.getOutputStream().close();
            if (!this.guard.waitFor(WAIT_LIMIT_NANOS, TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("Redis outlived SIGKILL");
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}
