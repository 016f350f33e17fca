package io.delayqueue.clinic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import redis.embedded.RedisServer;

/** A Redis server on a free port of the loopback interface. */
final class ClinicRedis implements AutoCloseable {

    private final int port = freePort();

    private final RedisServer server;

    ClinicRedis() {
        this.server = RedisServer.builder().port(this.port).bind("127.0.0.1").setting("save \"\"").build();
        this.server.start();
    }

    /** A port at which nothing listens. */
    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    int port() {
        return this.port;
    }

    /**
     * Runs a command on a connection of its own; while writes are paused, scripts wait.
     */
    void call(String command) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            if (socket.getInputStream().read() != '+') {
                throw new IllegalStateException("Redis refuses: " + command);
            }
        }
    }

    @Override
    public void close() {
        this.server.stop();
    }

}
