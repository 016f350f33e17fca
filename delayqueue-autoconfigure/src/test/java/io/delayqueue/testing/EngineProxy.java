package io.delayqueue.testing;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * Makes a real server behave as another engine: a loopback proxy that rewrites requests,
 * so that the server itself answers what the other one would, in order. Threads: safe;
 * one that accepts and two for each connection, all daemons.
 */
public final class EngineProxy implements AutoCloseable {

    private static final byte[] UNKNOWN_SHA = "f".repeat(40).getBytes(StandardCharsets.ISO_8859_1);

    private final int target;

    private final ServerSocket listener;

    private final UnaryOperator<List<byte[]>> rewriting;

    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    private EngineProxy(int target, UnaryOperator<List<byte[]>> rewriting) {
        this.target = target;
        this.rewriting = rewriting;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        daemon("engine-accept", this::accept);
    }

    /**
     * A server on which each command that begins with one of these words is answered by
     * an error.
     */
    public static EngineProxy refusing(RedisServer server, Set<String> words, String error) {
        return new EngineProxy(server.port(), (request) -> words.contains(word(request, 0))
                ? eval("return redis.error_reply(ARGV[1])", error) : request);
    }

    /**
     * A server whose scripts see what a command answers there.
     * @param answer the body of a Lua function: {@code word} is the command, {@code arg}
     * what follows it; {@code nil} for what this server answers itself
     * @param setting what {@code CONFIG GET} answers to a name that this server does not
     * know; empty for nothing
     */
    public static EngineProxy answering(RedisServer server, String answer, String... setting) {
        String shim = """
                local server = redis
                local function answer(word, ...)
                  %s
                end
                local redis = { error_reply = server.error_reply, status_reply = server.status_reply,
                  call = function(...) return answer(...) or server.call(...) end,
                  pcall = function(...) return answer(...) or server.pcall(...) end }
                """.formatted(answer);
        return new EngineProxy(server.port(), (request) -> {
            boolean asked = setting.length > 0 && word(request, 0).equals("CONFIG") && word(request, 1).equals("GET")
                    && word(request, 2).equals(setting[0].toUpperCase(Locale.ROOT));
            return asked ? eval("return ARGV", setting) : withShim(request, shim);
        });
    }

    public String host() {
        return "127.0.0.1";
    }

    public int port() {
        return this.listener.getLocalPort();
    }

    @Override
    public void close() {
        closeQuietly(this.listener);
        this.sockets.forEach(EngineProxy::closeQuietly);
    }

    // A client sends the text of a script only where its digest is not known.
    private static List<byte[]> withShim(List<byte[]> request, String shim) {
        List<byte[]> rewritten = new ArrayList<>(request);
        if (word(request, 0).equals("EVALSHA")) {
            rewritten.set(1, UNKNOWN_SHA);
        }
        else if (word(request, 0).equals("EVAL")) {
            rewritten.set(1, bytes(shim + text(request.get(1))));
        }
        return rewritten;
    }

    private static List<byte[]> eval(String script, String... arguments) {
        List<byte[]> request = new ArrayList<>(List.of(bytes("EVAL"), bytes(script), bytes("0")));
        for (String argument : arguments) {
            request.add(bytes(argument));
        }
        return request;
    }

    private static String word(List<byte[]> request, int index) {
        return (index < request.size()) ? text(request.get(index)).toUpperCase(Locale.ROOT) : "";
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private void accept() {
        try {
            while (true) {
                Socket client = this.listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), this.target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                this.sockets.add(client);
                this.sockets.add(server);
                daemon("engine-requests", () -> pump(client, server, () -> requests(client, server)));
                daemon("engine-replies",
                        () -> pump(client, server, () -> server.getInputStream().transferTo(client.getOutputStream())));
            }
        }
        catch (IOException ex) {
            // It was closed.
        }
    }

    private void requests(Socket client, Socket server) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()));
        OutputStream out = new BufferedOutputStream(server.getOutputStream());
        while (true) {
            int parts = number(in, '*');
            List<byte[]> request = new ArrayList<>();
            for (int i = 0; i < parts; i++) {
                byte[] part = new byte[number(in, '$')];
                in.readFully(part);
                in.skipNBytes(2);
                request.add(part);
            }
            List<byte[]> rewritten = this.rewriting.apply(request);
            out.write(bytes("*%d\r\n".formatted(rewritten.size())));
            for (byte[] part : rewritten) {
                out.write(bytes("$%d\r\n".formatted(part.length)));
                out.write(part);
                out.write(bytes("\r\n"));
            }
            out.flush();
        }
    }

    private static int number(DataInputStream in, char type) throws IOException {
        int first = in.readUnsignedByte();
        if (first != type) {
            throw new IOException("Not a request: " + (char) first);
        }
        int number = 0;
        for (int digit = in.readUnsignedByte(); digit != '\r'; digit = in.readUnsignedByte()) {
            number = 10 * number + digit - '0';
        }
        in.skipNBytes(1);
        return number;
    }

    private void pump(Socket client, Socket server, Pump body) {
        try {
            body.run();
        }
        catch (IOException ex) {
            // One side is gone, so the other goes too.
        }
        finally {
            closeQuietly(client);
            closeQuietly(server);
            this.sockets.removeAll(Set.of(client, server));
        }
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        }
        catch (Exception ex) {
            // Nothing is left to be done.
        }
    }

    private interface Pump {

        void run() throws IOException;

    }

}
