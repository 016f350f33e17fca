package io.delayqueue.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one process writes down. Each event is with the operating system when its method
 * returns, so that it outlives the process. Threads: safe.
 */
final class HistoryFile implements AutoCloseable {

    /** Ends each line; without it the line's writer was killed. */
    static final String END = ".";

    private final String node;

    /** How far the clock of this process is ahead of Redis', in microseconds. */
    private final long ahead;

    private final OutputStream out;

    private final AtomicLong calls = new AtomicLong();

    HistoryFile(Path file, String node, long aheadMicros) {
        this.node = node;
        this.ahead = aheadMicros;
        try {
            this.out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    long nextCall() {
        return this.calls.incrementAndGet();
    }

    void write(Event.Kind kind, String id, long call, String... facts) {
        write(now(), kind, id, call, facts);
    }

    void write(long at, Event.Kind kind, String id, long call, String... facts) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < facts.length; i += 2) {
            map.put(facts[i], facts[i + 1]);
        }
        Event event = new Event(at, this.node, call, kind, id, map);
        byte[] line = (event.toLine() + "\t" + END + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (this.out) {
            try {
                this.out.write(line);
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    long now() {
        return Event.micros(Instant.now()) - this.ahead;
    }

    @Override
    public void close() {
        try {
            this.out.close();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
