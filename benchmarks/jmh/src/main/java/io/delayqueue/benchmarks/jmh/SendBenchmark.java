package io.delayqueue.benchmarks.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayedMessage;
import io.delayqueue.SendResult;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Sends, from the call of the application to the arguments of the script, and back. */
@State(Scope.Benchmark)
public class SendBenchmark {

    static final int BATCH = 1000;

    static final int CONCURRENT = 16;

    private Application.@Nullable Running running;

    private final List<DelayedMessage> messages = new ArrayList<>();

    @Setup
    public void open() {
        this.running = new Application.Running();
        for (int i = 0; i < BATCH; i++) {
            this.messages
                .add(DelayedMessage.builder(Application.QUEUE, Application.WORK).delay(Application.DELAY).build());
        }
    }

    @TearDown
    public void close() {
        running().close();
    }

    private Application.Running running() {
        Application.Running current = this.running;
        if (current == null) {
            throw new IllegalStateException("Not open");
        }
        return current;
    }

    @Benchmark
    public SendResult send() {
        return running().template().send(Application.QUEUE, Application.WORK, Application.DELAY);
    }

    /** Sixteen sends at a time, most of which share calls. */
    @Benchmark
    @OperationsPerInvocation(CONCURRENT)
    public List<SendResult> sendAsync16() {
        List<CompletableFuture<SendResult>> sent = new ArrayList<>(CONCURRENT);
        for (DelayedMessage message : this.messages.subList(0, CONCURRENT)) {
            sent.add(running().template().sendAsync(message));
        }
        return sent.stream().map(CompletableFuture::join).toList();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public List<SendResult> sendAll() {
        return running().template().sendAll(this.messages);
    }

}
