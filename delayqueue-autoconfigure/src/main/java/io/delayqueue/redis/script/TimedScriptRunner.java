package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.delayqueue.store.MessageEventRecorderFactory;

/**
 * Reports the duration of calls up to the answer, including the network and the time that
 * they waited to be sent.
 */
public final class TimedScriptRunner implements ScriptRunner {

    private final ScriptRunner runner;

    private final MessageEventRecorderFactory events;

    private final SlowCallLog slow;

    public TimedScriptRunner(ScriptRunner runner, MessageEventRecorderFactory events, SlowCallLog slow) {
        this.runner = runner;
        this.events = events;
        this.slow = slow;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        return timed(script, () -> this.runner.run(script, keys, arguments));
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
        return timed(script, () -> this.runner.run(script, keys, arguments, limit));
    }

    private CompletableFuture<List<Object>> timed(RedisScript script, Supplier<CompletableFuture<List<Object>>> call) {
        long start = this.slow.now();
        CompletableFuture<List<Object>> answer = call.get();
        // Not the dependent future: cancelling must reach the call itself.
        answer.whenComplete((reply, failure) -> {
            long nanos = this.slow.now() - start;
            this.events.called(script.name(), nanos, failure == null);
            if (failure == null) {
                this.slow.answered(script.name(), nanos);
            }
        });
        return answer;
    }

    @Override
    public boolean isBlocking() {
        return this.runner.isBlocking();
    }

    @Override
    public void close() {
        this.runner.close();
    }

}
