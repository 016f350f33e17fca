package io.delayqueue.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

/**
 * A loopback proxy in front of a server, to break the network between it and a client. A
 * new proxy passes everything. Threads: safe; one that accepts and two for each
 * connection, all daemons.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int BUFFER_SIZE = 64 * 1024;

    /** Of patterns too. */
    private static final String SUBSCRIBE = "SUBSCRIBE";

    private final int target;

    private final int port = FreePorts.next();

    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

    private final Object monitor = new Object();

    // What follows is guarded by the monitor.

    private @Nullable ServerSocket listener;

    private Mode mode = Mode.PASS;

    private Duration delay = Duration.ZERO;

    private @Nullable Loss loss;

    private TcpProxy(int target) {
        this.target = target;
        listen();
    }

    public static TcpProxy to(RedisServer server) {
        return to(server.port());
    }

    public static TcpProxy to(int port) {
        return new TcpProxy(port);
    }

    public String host() {
        return "127.0.0.1";
    }

    public int port() {
        return this.port;
    }

    /**
     * A new URI of the proxy, free to change.
     */
    public RedisURI uri() {
        return Lettuce.uri(this.port);
    }

    /**
     * Passes everything, at once, what a black hole held back included; forgets a loss
     * that has not happened yet, and swallows nothing more.
     */
    public void pass() {
        enter(Mode.PASS, Duration.ZERO);
        this.connections.forEach((connection) -> connection.swallowing = false);
        listen();
    }

    /**
     * Closes all connections and refuses new ones, as if the server were down.
     */
    public void refuse() {
        enter(Mode.REFUSE, Duration.ZERO);
        synchronized (this.monitor) {
            closeQuietly(this.listener);
            this.listener = null;
        }
        resetConnections();
    }

    /**
     * Holds everything back in both directions, as if packets were lost; connections stay
     * open and new ones open. What was held arrives after {@link #pass()}.
     */
    public void blackhole() {
        enter(Mode.BLACKHOLE, Duration.ZERO);
        listen();
    }

    /**
     * Discards from now on whatever comes on connections that have subscribed to
     * something, in both directions, and closes none of them: to both ends they look
     * open. All others, new ones included, pass.
     * @return how many connections that are
     */
    public long swallowSubscriptions() {
        return this.connections.stream().filter(Connection::swallowIfSubscribed).count();
    }

    /**
     * Resets all connections now, and new ones as soon as they open.
     */
    public void reset() {
        enter(Mode.RESET, Duration.ZERO);
        listen();
        resetConnections();
    }

    /**
     * Passes everything that late, in each direction.
     */
    public void delay(Duration each) {
        enter(Mode.PASS, each);
        listen();
    }

    /**
     * Loses the reply to the next request, once, and resets that connection: the server
     * has executed what the client believes failed. All other traffic passes.
     */
    public void loseNextReply() {
        loseReplyTo("");
    }

    /**
     * As {@link #loseNextReply()}, for the next request that contains the text, such as
     * {@code "EVALSHA"}: requests that a client sends by itself do not count.
     */
    public void loseReplyTo(String text) {
        lose(new Loss(text, false));
    }

    /**
     * Loses the next request that contains the text, once, and resets that connection:
     * the server never sees it.
     */
    public void loseRequest(String text) {
        lose(new Loss(text, true));
    }

    /**
     * Whether the loss that was asked for has yet to happen.
     */
    public boolean isLossPending() {
        synchronized (this.monitor) {
            return this.loss != null;
        }
    }

    @Override
    public void close() {
        refuse();
    }

    private void lose(Loss next) {
        synchronized (this.monitor) {
            this.loss = next;
        }
    }

    private void enter(Mode next, Duration nextDelay) {
        synchronized (this.monitor) {
            this.mode = next;
            this.delay = nextDelay;
            this.loss = null;
            this.monitor.notifyAll();
        }
    }

    private void listen() {
        synchronized (this.monitor) {
            if (this.listener != null) {
                return;
            }
            try {
                ServerSocket opened = new ServerSocket();
                opened.setReuseAddress(true);
                opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port));
                this.listener = opened;
                daemon("proxy-accept", () -> accept(opened));
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    private void accept(ServerSocket from) {
        while (!from.isClosed()) {
            try {
                Socket client = from.accept();
                Connection connection = new Connection(client);
                if (admit(connection)) {
                    connection.open();
                }
                else {
                    connection.reset();
                }
            }
            catch (IOException ex) {
                // The listener was closed, or the server is down: the client sees a
                // reset.
            }
        }
    }

    // Under the monitor, so that a change of mode sees the connection or is seen here.
    private boolean admit(Connection connection) {
        synchronized (this.monitor) {
            this.connections.add(connection);
            return this.mode == Mode.PASS || this.mode == Mode.BLACKHOLE;
        }
    }

    private void resetConnections() {
        this.connections.forEach(Connection::reset);
    }

    private void awaitPassage() throws IOException {
        Duration late;
        synchronized (this.monitor) {
            while (this.mode == Mode.BLACKHOLE) {
                try {
                    this.monitor.wait();
                }
                catch (InterruptedException ex) {
                    throw new IOException("Interrupted", ex);
                }
            }
            late = this.delay;
        }
        LockSupport.parkNanos(late.toNanos());
    }

    private @Nullable Loss takeLoss(byte[] buffer, int length) {
        synchronized (this.monitor) {
            Loss pending = this.loss;
            if (pending == null
                    || !new String(buffer, 0, length, StandardCharsets.ISO_8859_1).contains(pending.text())) {
                return null;
            }
            this.loss = null;
            return pending;
        }
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    // Without lingering, close sends a reset instead of an orderly end.
    private static void resetQuietly(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        }
        catch (IOException ex) {
            // It is closed already.
        }
        closeQuietly(socket);
    }

    private static void closeQuietly(@Nullable AutoCloseable closeable) {
        try {
            if (closeable != null) {
                closeable.close();
            }
        }
        catch (Exception ex) {
            // Nothing is left to be done.
        }
    }

    private enum Mode {

        PASS, REFUSE, BLACKHOLE, RESET

    }

    private record Loss(String text, boolean ofRequest) {
    }

    private final class Connection {

        private final Socket client;

        private final Socket server = new Socket();

        private boolean losesReply;

        private volatile boolean subscribed;

        private volatile boolean swallowing;

        Connection(Socket client) {
            this.client = client;
        }

        void open() {
            try {
                this.client.setTcpNoDelay(true);
                this.server.setTcpNoDelay(true);
                this.server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), TcpProxy.this.target));
                daemon("proxy-requests", this::pumpRequests);
                daemon("proxy-replies", this::pumpReplies);
            }
            catch (IOException ex) {
                reset();
            }
        }

        boolean swallowIfSubscribed() {
            this.swallowing |= this.subscribed;
            return this.swallowing;
        }

        void reset() {
            TcpProxy.this.connections.remove(this);
            resetQuietly(this.client);
            resetQuietly(this.server);
        }

        private void pumpRequests() {
            byte[] buffer = new byte[BUFFER_SIZE];
            try {
                int length;
                while ((length = this.client.getInputStream().read(buffer)) >= 0) {
                    awaitPassage();
                    if (this.swallowing) {
                        continue;
                    }
                    this.subscribed |= new String(buffer, 0, length, StandardCharsets.ISO_8859_1).contains(SUBSCRIBE);
                    if (!forwardRequest(buffer, length)) {
                        return;
                    }
                }
            }
            catch (IOException ex) {
                // One side is gone, so the other goes too.
            }
            end();
        }

        // Returns false when the reply pump has the say from here on.
        private synchronized boolean forwardRequest(byte[] buffer, int length) throws IOException {
            if (this.losesReply) {
                return false;
            }
            Loss taken = takeLoss(buffer, length);
            if (taken != null && taken.ofRequest()) {
                throw new IOException("Lost on purpose");
            }
            this.losesReply = (taken != null);
            this.server.getOutputStream().write(buffer, 0, length);
            return true;
        }

        private void pumpReplies() {
            byte[] buffer = new byte[BUFFER_SIZE];
            try {
                int length;
                while ((length = this.server.getInputStream().read(buffer)) >= 0) {
                    awaitPassage();
                    if (this.swallowing) {
                        continue;
                    }
                    if (losesReply()) {
                        awaitExecution(buffer);
                        break;
                    }
                    this.client.getOutputStream().write(buffer, 0, length);
                }
            }
            catch (IOException ex) {
                // One side is gone, so the other goes too.
            }
            end();
        }

        // Where packets are lost, so is that of the end.
        private void end() {
            if (!this.swallowing) {
                reset();
            }
        }

        private synchronized boolean losesReply() {
            return this.losesReply;
        }

        // The reply at hand may be to an earlier request. An orderly end lets the server
        // read and execute everything first, where a reset could discard some of it.
        private void awaitExecution(byte[] buffer) throws IOException {
            this.server.shutdownOutput();
            while (this.server.getInputStream().read(buffer) >= 0) {
                continue;
            }
        }

    }

}
