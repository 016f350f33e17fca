package io.delayqueue.test.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a Redis server on a free port of the loopback interface, which all contexts of
 * this process share that use the same executable. It keeps nothing on disk, and ends
 * with this process, however that ends.
 */
final class EmbeddedRedis {

    private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedis.class);

    private static final Duration START_LIMIT = Duration.ofSeconds(30);

    private static final int ATTEMPTS = 5;

    /*
     * The reader notices when this process is gone, even after a kill -9, and then ends
     * Redis. If Redis ends by itself, the reader is ended too, as it could otherwise kill
     * another process with the same id.
     */
    private static final String SCRIPT = """
            exec 3<&0
            "$0" "$@" 3<&- >redis.log 2>&1 &
            redis=$!
            (read _ <&3; kill -9 $redis) >/dev/null 2>&1 &
            reader=$!
            wait $redis
            kill $reader
            """;

    /** The executable that is searched for. */
    private static final Path ANY = Path.of("");

    /** The servers of this process, by their executables; guarded by the class. */
    private static final Map<Path, EmbeddedRedis> SERVERS = new HashMap<>();

    private final int port;

    private final Process shell;

    private EmbeddedRedis(int port, Process shell) {
        this.port = port;
        this.shell = shell;
    }

    /**
     * Returns the server of an executable, and starts it for the first caller.
     * @param binary an executable; {@code null} to search for one
     */
    static synchronized EmbeddedRedis shared(@Nullable Path binary) {
        Path key = (binary != null) ? binary.toAbsolutePath() : ANY;
        EmbeddedRedis running = SERVERS.get(key);
        if (running == null || !running.shell.isAlive()) {
            running = start((binary != null) ? key : RedisBinaryLocator.locate());
            SERVERS.put(key, running);
        }
        return running;
    }

    int port() {
        return this.port;
    }

    private static EmbeddedRedis start(Path binary) {
        try {
            Path directory = Files.createTempDirectory("delayqueue-test-redis");
            for (int attempt = 1;; attempt++) {
                int port = freePort();
                Process shell = new ProcessBuilder("sh", "-c", SCRIPT, binary.toString(), "--bind", "127.0.0.1",
                        "--port", Integer.toString(port), "--save", "", "--appendonly", "no")
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
                if (answers(port, shell)) {
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
                    logger.info("Started {} on 127.0.0.1:{} for tests with store = REDIS; it ends with this process",
                            binary, port);
                    return new EmbeddedRedis(port, shell);
                }
                shell.destroy();
                if (attempt == ATTEMPTS) {
                    throw new IllegalStateException("The embedded Redis %s does not start: %s".formatted(binary,
                            Files.readString(directory.resolve("redis.log"))));
                }
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException("The embedded Redis %s does not start".formatted(binary), ex);
        }
    }

    private static void delete(Path directory) {
        File[] files = directory.toFile().listFiles();
        for (File file : (files != null) ? files : new File[0]) {
            file.delete();
        }
        directory.toFile().delete();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Connects until the server answers, or has had its time. */
    private static boolean answers(int port, Process shell) {
        long start = System.nanoTime();
        while (shell.isAlive() && System.nanoTime() - start < START_LIMIT.toNanos()) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout((int) START_LIMIT.toMillis());
                socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
                if (socket.getInputStream().read() == '+') {
                    return true;
                }
            }
            catch (IOException ex) {
                // Not listening yet.
            }
        }
        return false;
    }

}
