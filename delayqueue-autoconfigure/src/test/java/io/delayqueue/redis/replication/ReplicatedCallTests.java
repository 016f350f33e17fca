package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.RedisScripts;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * P1: a call that ends before the replicas answer reports whether its script has stored
 * its messages.
 */
class ReplicatedCallTests {

    /** A caller whose id is held calls another script then. */
    @Test
    void aReplyThatStoredNothingIsTheAnswerOfACallThatTimesOut() {
        assertThat(timedOut(RedisScripts.SEND).join()).isEmpty();
        assertThat(timedOut(RedisScripts.SCHEDULE, 0L, 5L, 1_000L).join()).containsExactly(0L, 5L, 1_000L);
    }

    @Test
    void aReplyThatStoredAllMessagesIsReportedAsStored() {
        assertThatThrownBy(() -> timedOut(RedisScripts.SEND, 1_000L).join()).cause()
            .isInstanceOf(NotReplicatedException.class)
            .hasMessage("Stored, not replicated: no answer to WAIT within 60000 ms of the send");
    }

    @Test
    void aReplyThatStoredSomeMessagesIsReportedAsUnknown() {
        assertThatThrownBy(() -> timedOut(RedisScripts.SCHEDULE, 0L, 0L, 1_000L, 5L, 1_000L).join()).cause()
            .isInstanceOfSatisfying(StoreUnavailableException.class, (failure) -> {
                assertThat(failure.effect()).isEqualTo(Effect.UNKNOWN);
                assertThat(failure).hasMessageStartingWith("Only some messages of 'schedule' are stored");
            });
    }

    /** The repetition of a call has the rest of its limit. */
    @Test
    void aCallEndsWithinAShorterLimitThanUsual() {
        LettuceConnectionFactory unused = ConnectionFactories.started(new LettuceConnectionFactory());
        ReplicationRequirement one = new ReplicationRequirement(1, Duration.ofSeconds(1));
        ReplicatedScriptRunner runner = new ReplicatedScriptRunner(unused, one, Duration.ofHours(1),
                (task) -> new Thread("does not connect"));

        assertThat(runner.run(RedisScripts.SEND, new byte[0][], new byte[0][], Duration.ofMillis(10)))
            .failsWithin(Duration.ofMinutes(1))
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(StoreUnavailableException.class);

        runner.close();
        unused.destroy();
    }

    private static CompletableFuture<List<Object>> timedOut(RedisScript script, Object... reply) {
        ReplicatedCall call = new ReplicatedCall(script, new byte[0][], new byte[0][], Duration.ofMinutes(1));
        assertThat(call.send(replying(List.of(reply)))).isTrue();
        call.fail(new TimeoutException());
        return call.answer();
    }

    private static RedisScriptingAsyncCommands<byte[], byte[]> replying(List<Object> reply) {
        RedisFuture<List<Object>> sent = mock();
        given(sent.toCompletableFuture()).willReturn(CompletableFuture.completedFuture(reply));
        RedisScriptingAsyncCommands<byte[], byte[]> commands = mock();
        given(commands.<List<Object>>evalsha(anyString(), any(), any(), any(byte[][].class))).willReturn(sent);
        return commands;
    }

}
