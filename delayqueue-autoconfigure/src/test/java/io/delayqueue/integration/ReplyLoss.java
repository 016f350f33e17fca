package io.delayqueue.integration;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * A proxy that loses a reply and then ends the connection in good order. After that
 * Lettuce repeats the call, where after a reset, as {@code TcpProxy} makes it, Lettuce
 * fails the oldest call under way. Threads: safe.
 */
final class ReplyLoss implements AutoCloseable {

    private final ServerSocket listener;

    private final int target;

    private final AtomicReference<@Nullable String> text = new AtomicReference<>();

    private final AtomicInteger others = new AtomicInteger();

    private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {
    });

    ReplyLoss(int target) {
        this.target = target;
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

    /** Loses the reply to the next request that contains the text. */
    void next(String text) {
        next(text, 0);
    }

    /** The same, after so many others that contain it. */
    void next(String text, int others) {
        this.others.set(others);
        this.text.set(text);
    }

    /**
     * The same.
     * @param meanwhile what happens between the request and its repetition
     */
    void next(String text, Runnable meanwhile) {
        this.meanwhile.set(meanwhile);
        next(text);
    }

    boolean isPending() {
        return this.text.get() != null;
    }

    private void accept() {
        while (!this.listener.isClosed()) {
            try {
                Socket client = this.listener.accept();
                client.setTcpNoDelay(true);
                Socket server = new Socket(InetAddress.getLoopbackAddress(), this.target);
                server.setTcpNoDelay(true);
                AtomicReference<Boolean> losing = new AtomicReference<>(false);
                daemon(() -> pumpRequests(client, server, losing));
                daemon(() -> pumpReplies(client, server, losing));
            }
            catch (IOException ex) {
                // Closed.
            }
        }
    }

    private void pumpRequests(Socket client, Socket server, AtomicReference<Boolean> losing) {
        byte[] buffer = new byte[1 << 16];
        try {
            int length;
            while ((length = client.getInputStream().read(buffer)) >= 0) {
                String wanted = this.text.get();
                if (wanted != null && new String(buffer, 0, length, StandardCharsets.ISO_8859_1).contains(wanted)
                        && this.others.getAndDecrement() <= 0) {
                    losing.set(true);
                    this.text.set(null);
                }
                server.getOutputStream().write(buffer, 0, length);
                if (losing.get()) {
                    // The server answers what it has read, and ends.
                    server.shutdownOutput();
                    return;
                }
            }
            server.shutdownOutput();
        }
        catch (IOException ex) {
            // The other pump sees the end.
        }
    }

    private void pumpReplies(Socket client, Socket server, AtomicReference<Boolean> losing) {
        byte[] buffer = new byte[1 << 16];
        try (client; server) {
            int length;
            while ((length = server.getInputStream().read(buffer)) >= 0) {
                if (!losing.get()) {
                    client.getOutputStream().write(buffer, 0, length);
                }
            }
            if (losing.get()) {
                this.meanwhile.get().run();
            }
            client.shutdownOutput();
        }
        catch (IOException ex) {
            // One side is gone, and now the other.
        }
    }

    private static void daemon(Runnable body) {
        Thread thread = new Thread(body, "reply-loss");
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

}
