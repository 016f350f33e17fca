package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.engine.MessageEvents;

/**
 * Reports how long calls took, from here to the answer: with the network, and with what
 * waited before them.
 */
final class TimedScriptRunner implements ScriptRunner {

    private final ScriptRunner runner;

    private final MessageEvents events;

    private final SlowCalls slow;

    TimedScriptRunner(ScriptRunner runner, MessageEvents events, SlowCalls slow) {
        this.runner = runner;
        this.events = events;
        this.slow = slow;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        long start = this.slow.now();
        CompletableFuture<List<Object>> answer = this.runner.run(script, keys, arguments);
        // Not what this returns: who cancels means the call itself.
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
    public boolean waits() {
        return this.runner.waits();
    }

    @Override
    public void close() {
        this.runner.close();
    }

}
