package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.delayqueue.store.StoreFailures;

/**
 * Repeats calls while a slot of the cluster moves to another node. Redis answers TRYAGAIN
 * to every script as long as only some of its keys have moved, and for a moment two nodes
 * may redirect the client to each other until it gives up. In both cases the script did
 * not run.
 * <p>
 * <strong>Threads.</strong> Any; a repetition runs on a thread of the common pool.
 */
public final class SlotMoveRetryingScriptRunner implements ScriptRunner {

    private static final Duration PAUSE = Duration.ofMillis(20);

    private final ScriptRunner runner;

    private final Duration limit;

    private final boolean cluster;

    /**
     * Creates a runner.
     * @param limit after which it gives up
     * @param cluster whether the client follows redirections
     */
    public SlotMoveRetryingScriptRunner(ScriptRunner runner, Duration limit, boolean cluster) {
        this.runner = runner;
        this.limit = limit;
        this.cluster = cluster;
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
        return run(script, keys, arguments, this.limit);
    }

    @Override
    public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit) {
        return run(new Call(script, keys, arguments, limit, System.nanoTime()), limit, false);
    }

    /**
     * Makes a call.
     * @param time what is left of its limit
     */
    private CompletableFuture<List<Object>> run(Call call, Duration time, boolean effectUnknown) {
        CompletableFuture<List<Object>> answer = time.equals(this.limit)
                ? this.runner.run(call.script(), call.keys(), call.arguments())
                : this.runner.run(call.script(), call.keys(), call.arguments(), time);
        if (answer.isDone() && !answer.isCompletedExceptionally()) {
            return answer;
        }
        return answer.exceptionallyCompose((failure) -> {
            long left = call.limit().toNanos() - (System.nanoTime() - call.startNanos());
            if (left < PAUSE.toNanos() || !isTemporary(failure)) {
                return CompletableFuture.failedFuture(StoreFailures.ofAttempts(effectUnknown, failure));
            }
            return CompletableFuture
                .supplyAsync(
                        () -> run(call, Duration.ofNanos(left),
                                effectUnknown || StoreFailures.mayHaveTakenEffect(failure)),
                        CompletableFuture.delayedExecutor(PAUSE.toMillis(), TimeUnit.MILLISECONDS))
                .thenCompose(Function.identity());
        });
    }

    private boolean isTemporary(Throwable failure) {
        return RedisExceptionTranslator.isSlotMoving(failure)
                || (this.cluster && RedisExceptionTranslator.isRedirect(failure));
    }

    @Override
    public boolean isBlocking() {
        return this.runner.isBlocking();
    }

    @Override
    public void close() {
        this.runner.close();
    }

    /** Holds a call that may be repeated, and when it was first made. */
    private record Call(RedisScript script, byte[][] keys, byte[][] arguments, Duration limit, long startNanos) {
    }

}
