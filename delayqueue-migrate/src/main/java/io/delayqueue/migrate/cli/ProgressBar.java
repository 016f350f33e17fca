package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.LongSupplier;

import io.delayqueue.migrate.engine.Migration.ProgressListener;

/**
 * Prints the progress: on a terminal as a bar that is drawn again and again, else as a
 * line every ten seconds. Not thread-safe.
 */
final class ProgressBar implements ProgressListener, AutoCloseable {

    private static final int WIDTH = 30;

    private final PrintWriter out;

    private final long total;

    private final LongSupplier nanoTime;

    private final boolean terminal = System.console() != null;

    private final long interval = Duration.ofMillis(this.terminal ? 200 : 10_000).toNanos();

    private final long start;

    private long printed;

    private long moved;

    /**
     * Creates the bar.
     * @param total the number of entries that are expected; zero if not known
     */
    ProgressBar(PrintWriter out, long total, LongSupplier nanoTime) {
        this.out = out;
        this.total = total;
        this.nanoTime = nanoTime;
        this.start = nanoTime.getAsLong();
        this.printed = this.start;
    }

    @Override
    public void moved(String queue, int number) {
        this.moved += number;
        long now = this.nanoTime.getAsLong();
        if (now - this.printed >= this.interval) {
            this.printed = now;
            print(now);
        }
    }

    private void print(long now) {
        String line = line(Duration.ofNanos(now - this.start));
        if (this.terminal) {
            this.out.print("\r" + line);
            this.out.flush();
        }
        else {
            this.out.println(line);
        }
    }

    /** Returns the line after some time. */
    String line(Duration elapsed) {
        double seconds = Math.max(0.001, elapsed.toMillis() / 1000.0);
        double rate = this.moved / seconds;
        if (this.total == 0) {
            return "%,d moved, %,.0f/s ".formatted(this.moved, rate);
        }
        double part = Math.min(1, (double) this.moved / this.total);
        String bar = "=".repeat((int) (part * WIDTH));
        Duration rest = Duration.ofSeconds((long) (Math.max(0, this.total - this.moved) / Math.max(1, rate)));
        return "[%-30s] %3.0f %% %,d of %,d, %,.0f/s, %d:%02d left ".formatted(bar, part * 100, this.moved, this.total,
                rate, rest.toMinutes(), rest.toSecondsPart());
    }

    @Override
    public void close() {
        print(this.nanoTime.getAsLong());
        if (this.terminal) {
            this.out.println();
        }
    }

}
