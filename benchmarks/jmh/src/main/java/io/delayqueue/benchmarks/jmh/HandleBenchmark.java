package io.delayqueue.benchmarks.jmh;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Handles due messages: iterations of the loop, with claims and acknowledgements of up to
 * a hundred, and sixteen handlers that do nothing.
 */
@State(Scope.Benchmark)
public class HandleBenchmark {

    static final int MESSAGES = 10_000;

    private Application.@Nullable Running running;

    private @Nullable StubRedis redis;

    @Setup
    public void open() {
        this.running = new Application.Running();
        this.redis = this.running.bean(StubRedis.class);
    }

    @TearDown
    public void close() {
        if (this.running != null) {
            this.running.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public long handle() throws InterruptedException {
        StubRedis current = this.redis;
        if (current == null) {
            throw new IllegalStateException("Not open");
        }
        current.handle(MESSAGES);
        return MESSAGES;
    }

}
