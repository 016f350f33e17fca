package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.engine.MessageEvents;

/**
 * Tells how long calls took, from here to the answer: with the network, and with what
 * waited before them.
 */
final class TimedScriptRunner implements ScriptRunner {

    private final ScriptRunner runner;

    private final MessageEvents events;

    private TimedScriptRunner(ScriptRunner runner, MessageEvents events) {
        this.runner = runner;
        this.events = events;
    }

    /** Just the runner if nobody wants to know. */
    static ScriptRunner of(ScriptRunner runner, MessageEvents events) {
        return (events == MessageEvents.NONE) ? runner : new TimedScriptRunner(runner, events);
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        long start = System.nanoTime();
        CompletableFuture<List<Object>> answer = this.runner.run(script, keys, arguments);
        // Not what this returns: who cancels means the call itself.
        answer.whenComplete(
                (reply, failure) -> this.events.called(script.name(), System.nanoTime() - start, failure == null));
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
