package io.delayqueue.sample.embedded;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.RedisExecProvider;

import org.springframework.util.FileSystemUtils;

/**
 * A Redis server on a free port of the loopback interface. It keeps nothing on disk, and
 * it ends with this process, however that ends.
 */
public final class EmbeddedRedis implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedis.class);

    private static final Duration START_LIMIT = Duration.ofSeconds(30);

    /*
     * Redis goes into the background, out of the reach of Ctrl-C, because the application
     * must stop before it. The shell stays. It reads from this process, so it notices
     * when there is nobody left, even after a kill -9, and then ends Redis.
     */
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            "$0" "$@" && read -r line
            kill "$(cat redis.pid)"
            """;

    private final Path directory;

    private final int port;

    private final Process shell;

    private EmbeddedRedis(Path directory, int port, Process shell) {
        this.directory = directory;
        this.port = port;
        this.shell = shell;
    }

    /**
     * Starts a server and waits until it answers.
     * @throws EmbeddedRedisException if there is none for this platform, or it fails
     */
    static EmbeddedRedis start() {
        File binary = binary();
        try {
            Path directory = Files.createTempDirectory("embedded-redis");
            int port = freePort();
            Process shell = new ProcessBuilder("sh", "-c", SCRIPT, binary.getAbsolutePath(), "--bind", "127.0.0.1",
                    "--port", String.valueOf(port), "--save", "", "--daemonize", "yes", "--pidfile",
                    directory.resolve("redis.pid").toString(), "--logfile", directory.resolve("redis.log").toString())
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("redis.log").toFile()))
                .start();
            EmbeddedRedis redis = new EmbeddedRedis(directory, port, shell);
            if (!redis.starts()) {
                String log = Files.readString(directory.resolve("redis.log"));
                redis.close();
                throw new EmbeddedRedisException("The embedded Redis server does not start: " + log, null);
            }
            logger.info("Started an embedded Redis on 127.0.0.1:{}, which ends with this application; set "
                    + "'spring.data.redis.host' or 'spring.data.redis.url' to use one of your own", port);
            return redis;
        }
        catch (IOException ex) {
            throw new EmbeddedRedisException("The embedded Redis server does not start: " + ex.getMessage(), ex);
        }
    }

    int port() {
        return this.port;
    }

    /**
     * Deletes all keys, as an operator could by mistake.
     * @throws IllegalStateException if the server does not confirm it
     */
    public void deleteAll() {
        if (!confirms("FLUSHALL")) {
            throw new IllegalStateException("The embedded Redis does not delete its keys");
        }
    }

    @Override
    public void close() {
        try {
            this.shell.getOutputStream().close();
            this.shell.waitFor(START_LIMIT.toSeconds(), TimeUnit.SECONDS);
            FileSystemUtils.deleteRecursively(this.directory);
        }
        catch (IOException ex) {
            logger.debug("Cannot remove '{}'", this.directory, ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static File binary() {
        try {
            return RedisExecProvider.defaultProvider().get();
        }
        catch (IOException | RuntimeException ex) {
            throw new EmbeddedRedisException("There is no embedded Redis server for this platform (%s on %s)"
                .formatted(System.getProperty("os.name"), System.getProperty("os.arch")), ex);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private boolean starts() {
        long start = System.nanoTime();
        while (!answers()) {
            if (!this.shell.isAlive() || System.nanoTime() - start > START_LIMIT.toNanos() || !pause()) {
                return false;
            }
        }
        return true;
    }

    private boolean answers() {
        return Files.exists(this.directory.resolve("redis.pid")) && confirms("PING");
    }

    private boolean confirms(String command) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
            socket.setSoTimeout((int) START_LIMIT.toMillis());
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == '+';
        }
        catch (IOException ex) {
            return false;
        }
    }

    private static boolean pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(10);
            return true;
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

}
