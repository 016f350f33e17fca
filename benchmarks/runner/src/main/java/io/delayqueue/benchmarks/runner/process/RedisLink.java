package io.delayqueue.benchmarks.runner.process;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The few commands that the runner needs, without a client library and its threads: the
 * runner must not take the CPU that it measures. Threads: one at a time.
 */
public final class RedisLink implements AutoCloseable {

    private final Socket socket;

    private final InputStream in;

    RedisLink(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        this.socket.setTcpNoDelay(true);
        this.in = new BufferedInputStream(this.socket.getInputStream());
    }

    /** Connects once more. */
    public static RedisLink to(int port) {
        try {
            return new RedisLink(port);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Sends a command and returns its answer; lists are flattened. */
    public List<String> call(String... words) {
        List<String> values = new ArrayList<>();
        flatten(tree(words), values);
        return values;
    }

    /** Sends a command and returns its answer: a string, or a list of such answers. */
    public Object tree(String... words) {
        StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) {
            request.append('$').append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n");
            request.append(word).append("\r\n");
        }
        try {
            this.socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
            return read();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Reads an answer that was not asked for, as after MONITOR. */
    public List<String> next() throws IOException {
        List<String> values = new ArrayList<>();
        flatten(read(), values);
        return values;
    }

    private static void flatten(Object value, List<String> values) {
        if (value instanceof List<?> list) {
            list.forEach((each) -> flatten(each, values));
        }
        else {
            values.add(value.toString());
        }
    }

    private Object read() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':' -> rest;
            case '-' -> throw new IllegalStateException("Redis says: " + rest);
            case '$' -> text(Integer.parseInt(rest));
            case '*' -> list(Integer.parseInt(rest));
            default -> throw new IllegalStateException(line);
        };
    }

    private Object text(int length) throws IOException {
        if (length < 0) {
            return List.of();
        }
        String text = new String(this.in.readNBytes(length), StandardCharsets.UTF_8);
        this.in.skipNBytes(2);
        return text;
    }

    private List<Object> list(int count) throws IOException {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(read());
        }
        return values;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = this.in.read(); next != '\r'; next = this.in.read()) {
            if (next < 0) {
                throw new EOFException("Redis closed the connection");
            }
            line.append((char) next);
        }
        this.in.skipNBytes(1);
        return line.toString();
    }

    /** The fields of sections of INFO. */
    public Map<String, String> info(String... sections) {
        Map<String, String> fields = new TreeMap<>();
        for (String section : sections) {
            call("INFO", section).get(0).lines().filter((line) -> line.contains(":")).forEach((line) -> {
                int colon = line.indexOf(':');
                fields.put(line.substring(0, colon), line.substring(colon + 1));
            });
        }
        return fields;
    }

    /** Ends what others wait for on this connection, too. */
    @Override
    public void close() {
        try {
            this.socket.close();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
