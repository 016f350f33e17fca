package io.delayqueue.benchmarks.contender;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * The delivery check: how often each message was begun and completed, and how far from
 * its due time. An early message is as wrong as a late one, so the percentiles are those
 * of the absolute difference, and early messages are counted too. Counts lie in a file if
 * one is given, where they survive the death of this JVM, and where several JVMs count
 * together.
 * <p>
 * <strong>Threads.</strong> Handlers call {@link #begun} and {@link #completed} at the
 * same time; each count is atomic, across JVMs too.
 */
final class Ledger {

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private static final long MAX_LATENESS = TimeUnit.HOURS.toMicros(1);

    private final int messages;

    /** Two counts for each message: begun, completed. */
    private final ByteBuffer counts;

    private final Recorder lateness = new Recorder(MAX_LATENESS, 3);

    /** The values that earlier findings took from the recorder. */
    private Histogram earlierLateness = new Histogram(MAX_LATENESS, 3);

    private final LongAdder doubled = new LongAdder();

    private final LongAdder unexpected = new LongAdder();

    private final LongAdder early = new LongAdder();

    private final LongAdder earlyByAMilli = new LongAdder();

    private final LongAccumulator earliest = new LongAccumulator(Math::max, 0);

    private final AtomicLong left;

    private final CountDownLatch done = new CountDownLatch(1);

    private volatile long firstNanos;

    private volatile long lastNanos;

    private Ledger(int messages, ByteBuffer counts) {
        this.messages = messages;
        this.counts = counts;
        this.left = new AtomicLong(messages);
    }

    /** A check of messages 0 to {@code messages - 1}. */
    static Ledger inMemory(int messages) {
        return new Ledger(messages, ByteBuffer.allocateDirect(Math.max(1, messages) * 2 * Integer.BYTES));
    }

    /** As {@link #inMemory}, with the counts in a file that others may count in too. */
    static Ledger inFile(int messages, Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return new Ledger(messages,
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, Math.max(1, messages) * 2L * Integer.BYTES));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** A handler begins. */
    void begun(Work work) {
        long late = Wall.micros() - work.dueMicros();
        if (work.number() < 0 || work.number() >= this.messages) {
            this.unexpected.increment();
            return;
        }
        if (late < 0) {
            this.early.increment();
            this.earliest.accumulate(-late);
            if (late <= -1000) {
                this.earlyByAMilli.increment();
            }
        }
        this.lateness.recordValue(Math.min(Math.abs(late), MAX_LATENESS));
        if ((int) INTS.getAndAdd(this.counts, (int) work.number() * 2 * Integer.BYTES, 1) > 0) {
            this.doubled.increment();
        }
    }

    /** A handler returns. */
    void completed(Work work) {
        if (work.number() < 0 || work.number() >= this.messages) {
            return;
        }
        long now = System.nanoTime();
        if (this.firstNanos == 0) {
            this.firstNanos = now;
        }
        this.lastNanos = now;
        int at = ((int) work.number() * 2 + 1) * Integer.BYTES;
        if ((int) INTS.getAndAdd(this.counts, at, 1) == 0 && this.left.decrementAndGet() == 0) {
            this.done.countDown();
        }
    }

    /**
     * Waits until as many messages were handled here as are expected.
     * @return {@code false} if that took longer than the limit
     */
    boolean await(long millis) throws InterruptedException {
        return this.left.get() <= 0 || this.done.await(millis, TimeUnit.MILLISECONDS);
    }

    /** Messages that were handled here for the first time. */
    long handled() {
        return this.messages - this.left.get();
    }

    /** When the first and the last handler returned, by {@link System#nanoTime()}. */
    long[] span() {
        return new long[] { this.firstNanos, this.lastNanos };
    }

    /** The findings, for an answer. */
    Answer findings() {
        int lost = 0;
        for (int number = 0; number < this.messages; number++) {
            if ((int) INTS.getVolatile(this.counts, number * 2 * Integer.BYTES) == 0) {
                lost++;
            }
        }
        Histogram histogram = this.lateness.getIntervalHistogram();
        histogram.add(this.earlierLateness);
        this.earlierLateness = histogram;
        return new Answer().with("expected", this.messages)
            .with("lost", lost)
            .with("doubled", this.doubled.sum())
            .with("unexpected", this.unexpected.sum())
            .with("early", this.early.sum())
            .with("earlyByAMilli", this.earlyByAMilli.sum())
            .with("earliestMicros", this.earliest.get())
            .with("p50Micros", histogram.getValueAtPercentile(50))
            .with("p90Micros", histogram.getValueAtPercentile(90))
            .with("p99Micros", histogram.getValueAtPercentile(99))
            .with("p999Micros", histogram.getValueAtPercentile(99.9))
            .with("maxMicros", histogram.getMaxValue())
            .with("meanMicros", Math.round(histogram.getMean()));
    }

}
