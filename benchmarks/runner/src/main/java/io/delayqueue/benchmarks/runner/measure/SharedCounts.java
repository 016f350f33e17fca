package io.delayqueue.benchmarks.runner.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import io.delayqueue.benchmarks.runner.result.Delivery;

/**
 * The counts that several JVMs keep together in a file, of which some may be dead: for
 * each message how often it was begun, and how often completed.
 */
final class SharedCounts {

    private final Path file;

    private final int messages;

    private final ByteBuffer counts;

    private SharedCounts(Path file, int messages, ByteBuffer counts) {
        this.file = file;
        this.messages = messages;
        this.counts = counts;
    }

    static SharedCounts create(Path directory, int messages) {
        Path file = directory.resolve("counts-" + System.nanoTime());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            ByteBuffer counts = channel.map(FileChannel.MapMode.READ_WRITE, 0, messages * 2L * Integer.BYTES)
                .order(ByteOrder.nativeOrder());
            return new SharedCounts(file, messages, counts);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The request that makes a process count here. */
    String expect() {
        return "expect count=%d file=%s".formatted(this.messages, this.file);
    }

    int completed() {
        return count((number) -> this.counts.getInt((number * 2 + 1) * Integer.BYTES) > 0);
    }

    int begunTwice() {
        return count((number) -> this.counts.getInt(number * 2 * Integer.BYTES) > 1);
    }

    int lost() {
        return this.messages - completed();
    }

    /** The delivery check, with the early messages that one of the processes found. */
    Delivery delivery(long early, long earlyByAMilli, long earliestMicros) {
        return new Delivery(this.messages, lost(), begunTwice(), 0, early, earlyByAMilli, earliestMicros);
    }

    private int count(IntPredicate condition) {
        return (int) IntStream.range(0, this.messages).filter(condition).count();
    }

}
