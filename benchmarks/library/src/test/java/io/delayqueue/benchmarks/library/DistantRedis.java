package io.delayqueue.benchmarks.library;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Forwards connections to a server on this machine, and delays all data by the same time
 * in each direction, as a longer wire does: data that follows is not delayed more.
 * Threads: one that accepts and four for each connection, all daemons.
 */
final class DistantRedis implements AutoCloseable {

    private static final int BUFFER = 64 * 1024;

    private final ServerSocket listener;

    private final int target;

    private final long nanos;

    /**
     * Begins to forward.
     * @param target the port of the server
     * @param nanos the time from one end to the other
     */
    DistantRedis(int target, long nanos) {
        this.target = target;
        this.nanos = nanos;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        daemon(this::accept);
    }

    int port() {
        return this.listener.getLocalPort();
    }

    private void accept() throws IOException {
        while (!this.listener.isClosed()) {
            Socket client = this.listener.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), this.target);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            forward(client, server);
            forward(server, client);
        }
    }

    private void forward(Socket from, Socket to) {
        LinkedBlockingQueue<Chunk> wire = new LinkedBlockingQueue<>();
        daemon(() -> {
            InputStream in = from.getInputStream();
            byte[] buffer = new byte[BUFFER];
            int length = in.read(buffer);
            while (length >= 0) {
                wire.add(new Chunk(Arrays.copyOf(buffer, length), System.nanoTime() + this.nanos));
                length = in.read(buffer);
            }
            to.close();
        });
        daemon(() -> {
            OutputStream out = to.getOutputStream();
            while (!to.isClosed()) {
                Chunk next = wire.take();
                // Real time: the latency of the wire.
                LockSupport.parkNanos(next.at() - System.nanoTime());
                out.write(next.bytes());
            }
        });
    }

    private static void daemon(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            }
            catch (IOException | InterruptedException ex) {
                // The connection is closed.
            }
        }, "wire");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            this.listener.close();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private record Chunk(byte[] bytes, long at) {
    }

    @FunctionalInterface
    private interface Body {

        void run() throws IOException, InterruptedException;

    }

}
