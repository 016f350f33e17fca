package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the repetition of calls while a slot moves to another node. */
class SlotMoveRetryingScriptRunnerTests {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static final DelayQueueException MOVING = new StoreUnavailableException("a slot moves", Effect.NONE,
            new RedisCommandExecutionException("TRYAGAIN Multiple keys request during rehashing"));

    private final List<Duration> limits = new ArrayList<>();

    /** A caller waits for its limit, however often its call is repeated. */
    @Test
    void aRepeatedCallHasTheRestOfTheLimit() {
        assertThat(run(MOVING, MOVING).join()).isEmpty();

        assertThat(this.limits).hasSize(3).first().isEqualTo(LIMIT);
        assertThat(this.limits.get(1)).isLessThan(LIMIT);
        assertThat(this.limits.get(2)).isPositive().isLessThan(this.limits.get(1));
    }

    /** The slot moves between the script and the write that is to be replicated. */
    @Test
    void aRefusalDoesNotHideThatAnEarlierAttemptHasStoredTheMessage() {
        DelayQueueException stored = new NotReplicatedException("Stored, not replicated",
                new RedisCommandExecutionException("MOVED 1 127.0.0.1:6379"));
        DelayQueueException refused = new StoreRefusedException("Redis refused; nothing was changed", Effect.NONE,
                new RedisCommandExecutionException("OOM command not allowed"));

        assertThatThrownBy(() -> run(stored, refused).join()).cause()
            .isInstanceOfSatisfying(StoreRefusedException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(Effect.UNKNOWN));

        assertThat(this.limits).hasSize(2);
    }

    /** Runs a script that fails with these, and then succeeds. */
    private CompletableFuture<List<Object>> run(DelayQueueException... failures) {
        return new SlotMoveRetryingScriptRunner(new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return run(script, keys, arguments, LIMIT);
            }

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments,
                    Duration limit) {
                int call = SlotMoveRetryingScriptRunnerTests.this.limits.size();
                SlotMoveRetryingScriptRunnerTests.this.limits.add(limit);
                return (call < failures.length) ? CompletableFuture.failedFuture(failures[call])
                        : CompletableFuture.completedFuture(List.of());
            }

            @Override
            public void close() {
                // Holds nothing.
            }

        }, LIMIT, true).run(RedisScripts.SEND, new byte[0][], new byte[0][]);
    }

}
