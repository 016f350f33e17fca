package io.delayqueue.benchmarks.runner.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts claims as they happen, by MONITOR: a claim is a script that reads the lease that
 * ends first. Costs Redis something, so it is for low rates. Threads: counts in one of
 * its own, until it is closed.
 */
public final class ClaimCount implements AutoCloseable {

    private final AtomicLong claims = new AtomicLong();

    private final RedisLink link;

    private final Thread reader;

    private volatile boolean closed;

    private boolean counted = true;

    private ClaimCount(RedisLink link) {
        this.link = link;
        this.reader = new Thread(this::read, "claim-count");
    }

    public static ClaimCount start(int port) {
        RedisLink link = RedisLink.to(port);
        link.call("MONITOR");
        ClaimCount count = new ClaimCount(link);
        count.reader.setDaemon(true);
        count.reader.start();
        return count;
    }

    private void read() {
        try {
            while (!this.closed) {
                see(this.link.next().get(0).toUpperCase(Locale.ROOT));
            }
        }
        catch (IOException ex) {
            if (!this.closed) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    private void see(String line) {
        if (!line.contains(" LUA]")) {
            this.counted = !line.contains("\"EVALSHA\"");
        }
        else if (!this.counted && line.contains("\"ZRANGE\"") && line.contains(":LEASED\"")) {
            this.counted = true;
            this.claims.incrementAndGet();
        }
    }

    public long claims() {
        return this.claims.get();
    }

    @Override
    public void close() {
        this.closed = true;
        this.link.close();
    }

}
