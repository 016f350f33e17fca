package io.delayqueue.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The operating system's side of one server: its process, directory and port. Threads:
 * guarded by itself.
 */
final class RedisProcess {

    // Starts Redis and tells its pid. The JVM holds the other end of standard input: when
    // that closes, because the JVM wants it or is dead, the reader kills Redis. When
    // Redis
    // ends by itself, so does the reader, which could hit a stranger with the same pid.
    private static final String GUARD = """
            exec 3<&0
            "$0" "$@" 3<&- >console.log 2>&1 &
            redis=$!
            echo $redis
            (read _ <&3; kill -9 $redis) >/dev/null 2>&1 &
            reader=$!
            wait $redis
            kill $reader
            """;

    private static final int CONNECT_TIMEOUT_MILLIS = 2000;

    private final List<String> command = new ArrayList<>(List.of("sh", "-c", GUARD));

    private final Path directory;

    private final int port;

    private @Nullable Process guard;

    private long pid;

    RedisProcess(Path executable, Path directory, int port, List<String> settings, List<String> arguments) {
        this.directory = directory;
        this.port = port;
        this.command.addAll(List.of(executable.toString(), "redis.conf"));
        this.command.addAll(arguments);
        List<String> lines = new ArrayList<>();
        lines.add("port " + port);
        lines.add("bind 127.0.0.1");
        lines.add("logfile redis.log");
        lines.addAll(settings);
        try {
            Files.write(directory.resolve("redis.conf"), lines);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    Path directory() {
        return this.directory;
    }

    int port() {
        return this.port;
    }

    synchronized long pid() {
        return this.pid;
    }

    synchronized boolean isAlive() {
        return this.guard != null && this.guard.isAlive();
    }

    /**
     * Starts it; on return it answers commands.
     */
    synchronized void start() {
        if (Boolean.getBoolean("dq.no-servers")) {
            throw new IllegalStateException("A test that starts a server needs the tag 'server'");
        }
        try {
            Process started = new ProcessBuilder(this.command).directory(this.directory.toFile())
                .redirectError(this.directory.resolve("guard.log").toFile())
                .start();
            this.guard = started;
            this.pid = Long.parseLong(started.inputReader(StandardCharsets.UTF_8).readLine());
            Poll.until(() -> "no PONG. " + log(), () -> answersPing() || !started.isAlive());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        if (!isAlive()) {
            throw new IllegalStateException("Redis ended while starting. " + log());
        }
    }

    synchronized void signal(String name) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -%s %d".formatted(name, this.pid)).start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("kill -%s %d failed. %s".formatted(name, this.pid, log()));
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            throw interrupted(ex);
        }
    }

    /**
     * Kills it with SIGKILL; on return it is gone. Does nothing if it is gone already.
     */
    synchronized void kill() {
        Process running = this.guard;
        if (running == null) {
            return;
        }
        try {
            running.getOutputStream().close();
            if (!running.waitFor(Poll.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("Redis outlived SIGKILL. " + log());
            }
            this.guard = null;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            throw interrupted(ex);
        }
    }

    boolean failedToBind() {
        return log().contains("Address already in use");
    }

    String log() {
        StringBuilder text = new StringBuilder("Files of " + this.directory + ":\n");
        for (String name : List.of("redis.log", "console.log", "guard.log")) {
            Path file = this.directory.resolve(name);
            if (Files.exists(file)) {
                try {
                    text.append(Files.readString(file));
                }
                catch (IOException ex) {
                    text.append(ex).append('\n');
                }
            }
        }
        return text.toString();
    }

    // Any complaint about rights is an answer too; only LOADING and silence are not.
    private boolean answersPing() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port), CONNECT_TIMEOUT_MILLIS);
            socket.setSoTimeout(CONNECT_TIMEOUT_MILLIS);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            String answer = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                .readLine();
            return answer != null && (answer.equals("+PONG") || answer.startsWith("-NOAUTH"));
        }
        catch (IOException ex) {
            return false;
        }
    }

    private static IllegalStateException interrupted(InterruptedException ex) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("Interrupted", ex);
    }

}
