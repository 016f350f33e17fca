package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the repetition of calls while a slot moves to another node. */
class SlotMoveRetryingScriptRunnerTests {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final List<Duration> limits = new ArrayList<>();

    /** A caller waits for its limit, however often its call is repeated. */
    @Test
    void aRepeatedCallHasTheRestOfTheLimit() {
        SlotMoveRetryingScriptRunner runner = new SlotMoveRetryingScriptRunner(new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return run(script, keys, arguments, LIMIT);
            }

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments,
                    Duration limit) {
                SlotMoveRetryingScriptRunnerTests.this.limits.add(limit);
                return (SlotMoveRetryingScriptRunnerTests.this.limits.size() < 3)
                        ? CompletableFuture.failedFuture(new StoreUnavailableException("a slot moves", Effect.NONE,
                                new RedisCommandExecutionException("TRYAGAIN Multiple keys request during rehashing")))
                        : CompletableFuture.completedFuture(List.of());
            }

            @Override
            public void close() {
                // Holds nothing.
            }

        }, LIMIT, true);

        assertThat(runner.run(RedisScripts.SEND, new byte[0][], new byte[0][]).join()).isEmpty();

        assertThat(this.limits).hasSize(3).first().isEqualTo(LIMIT);
        assertThat(this.limits.get(1)).isLessThan(LIMIT);
        assertThat(this.limits.get(2)).isPositive().isLessThan(this.limits.get(1));
    }

}
