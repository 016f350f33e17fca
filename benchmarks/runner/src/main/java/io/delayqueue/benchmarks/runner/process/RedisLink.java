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
        StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) {
            request.append('$').append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n");
            request.append(word).append("\r\n");
        }
        try {
            this.socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
            return next();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Reads an answer that was not asked for, as after MONITOR. */
    public List<String> next() throws IOException {
        List<String> values = new ArrayList<>();
        read(values);
        return values;
    }

    private void read(List<String> values) throws IOException {
        String line = line();
        String rest = line.substring(1);
        switch (line.charAt(0)) {
            case '+', ':' -> values.add(rest);
            case '-' -> throw new IllegalStateException("Redis says: " + rest);
            case '$' -> {
                int length = Integer.parseInt(rest);
                if (length >= 0) {
                    values.add(new String(this.in.readNBytes(length), StandardCharsets.UTF_8));
                    this.in.skipNBytes(2);
                }
            }
            case '*' -> {
                int count = Integer.parseInt(rest);
                for (int i = 0; i < count; i++) {
                    read(values);
                }
            }
            default -> throw new IllegalStateException(line);
        }
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
