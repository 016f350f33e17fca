package io.delayqueue.benchmarks.limit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import org.jspecify.annotations.Nullable;

/**
 * Sends the script of the limit through a blocking socket of each thread, without a
 * client library: the floor of a send that waits for its answer.
 */
final class SocketContender extends LimitContender {

    private final ThreadLocal<@Nullable Socket> sockets = new ThreadLocal<>();

    private int port;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        super.open(setup, handler);
        this.port = setup.port();
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        String[] keys = keys(queue);
        try {
            Socket socket = socket();
            OutputStream out = socket.getOutputStream();
            out.write(command("EVALSHA", digest(), "2", keys[0], keys[1], id(work), work.toJson(),
                    Long.toString(due(work))));
            InputStream in = socket.getInputStream();
            byte[] answer = new byte[64];
            int length = in.read(answer);
            if (length < 1 || answer[0] == '-') {
                throw new IllegalStateException(
                        "Redis: " + new String(answer, 0, Math.max(0, length), StandardCharsets.US_ASCII));
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        sent(due(work));
    }

    private Socket socket() throws IOException {
        Socket socket = this.sockets.get();
        if (socket == null) {
            socket = new Socket(InetAddress.getLoopbackAddress(), this.port);
            socket.setTcpNoDelay(true);
            this.sockets.set(socket);
        }
        return socket;
    }

    private static byte[] command(String... words) {
        StringBuilder text = new StringBuilder(256).append('*').append(words.length).append("\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n"); // all
                                                                                               // are
                                                                                               // ASCII
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

}
