package io.delayqueue.redis.script;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.StaleLayoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * P1: a failure reports whether its effect is known, for the messages of all versions.
 */
class RedisExceptionTranslatorTests {

    @ParameterizedTest
    @ValueSource(strings = { "READONLY You can't write against a read only replica. script: abc, on @user_script:202.",
            "ERR Error running script (call to f_abc): @user_script:80: @user_script: 80: -READONLY You can't write "
                    + "against a read only replica.",
            "LOADING Redis is loading the dataset in memory", "CLUSTERDOWN The cluster is down",
            "NOREPLICAS Not enough good replicas to write." })
    void temporaryErrorsAreUnavailableAndChangedNothing(String error) {
        DelayQueueException failure = translate(new IllegalStateException("wrapped", new RuntimeException(error)));

        assertThat(failure).isInstanceOf(StoreUnavailableException.class).hasMessageContaining("nothing was changed");
        assertThat(failure.effect()).isEqualTo(Effect.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = { "OOM command not allowed when used memory > 'maxmemory'. script: abc, on @user_script:8.",
            "ERR Error running script (call to f_abc): @user_script:80: @user_script: 80: -OOM command not allowed",
            "NOPERM this user has no permissions to run the 'evalsha' command" })
    void errorsThatAnOperatorHasToFixAreRejections(String error) {
        DelayQueueException failure = translate(new RuntimeException(error));

        assertThat(failure).isInstanceOf(StoreRefusedException.class).hasMessageContaining("nothing was changed");
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "NOPERM The user executing the script can't run this command or subcommand script: abc, on @user_script:114.",
            "ERR Error running script (call to f_abc): @user_script:1: user_script:1: attempt to index a nil value" })
    void errorsInsideAScriptAreRejectionsWithUnknownEffect(String error) {
        DelayQueueException failure = translate(new RuntimeException(error));

        assertThat(failure).isInstanceOf(StoreRefusedException.class).hasMessageContaining("may have taken effect");
        assertThat(failure.effect()).isEqualTo(Effect.UNKNOWN);
    }

    @Test
    void theEffectOfAnUnansweredCallIsUnknown() {
        assertThat(translate(new CancellationException()).effect()).isEqualTo(Effect.UNKNOWN);
        DelayQueueException reset = translate(new IOException("Connection reset"));
        assertThat(reset).isInstanceOf(StoreUnavailableException.class);
        assertThat(reset.effect()).isEqualTo(Effect.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(strings = { "DQSTALE 3|2", "OOM command not allowed", "LOADING Redis is loading the dataset" })
    void theEffectOfARepeatedCallIsUnknown(String error) {
        DelayQueueException first = translate(new RuntimeException(error));
        assertThat(first.effect()).isEqualTo(Effect.NONE);

        DelayQueueException second = RedisExceptionTranslator.translate(RedisScripts.SCHEDULE,
                new RuntimeException(error), Duration.ofSeconds(1), true);
        assertThat(second.effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(second).hasMessageContaining("may have taken effect");
    }

    @ParameterizedTest
    @ValueSource(strings = { "3|1,4", "3|1,4+", "3|1,4p", "3|1,4p+", "3|1,4p1790000000000", "3|1,4p1790000000000+" })
    void theWholeLayoutRecordIsReadFromARejection(String record) {
        DelayQueueException failure = translate(new RuntimeException("DQSTALE the partitions are " + record));

        assertThat(StaleLayoutException.recordedIn(failure)).contains(PartitionLayout.parse(record));
    }

    @Test
    void theUnknownEffectOfACallIsKeptWhenItIsRetried() {
        int[] calls = { 0 };
        ScriptRunner runner = mock(ScriptRunner.class);
        when(runner.run(any(), any(), any(), any())).thenCallRealMethod();
        when(runner.run(any(), any(), any())).thenAnswer((call) -> CompletableFuture.failedFuture((++calls[0] == 1)
                ? RedisExceptionTranslator.translate(RedisScripts.SCHEDULE,
                        new RuntimeException("TRYAGAIN Multiple keys"), Duration.ofSeconds(1), true)
                : translate(new RuntimeException("OOM command not allowed"))));
        byte[][] none = {};

        assertThatExceptionOfType(ExecutionException.class)
            .isThrownBy(() -> new SlotMoveRetryingScriptRunner(runner, Duration.ofSeconds(30), true)
                .run(RedisScripts.SCHEDULE, none, none)
                .get(30, TimeUnit.SECONDS))
            .havingCause()
            .isInstanceOfSatisfying(StoreRefusedException.class,
                    (refused) -> assertThat(refused.effect()).isEqualTo(Effect.UNKNOWN))
            .withMessageContaining("OOM");
        assertThat(calls[0]).isEqualTo(2);
    }

    @Test
    void aMovingSlotIsRecognized() {
        DelayQueueException half = translate(new RuntimeException("TRYAGAIN Multiple keys request during rehashing"));
        assertThat(RedisExceptionTranslator.isSlotMoving(half)).isTrue();
        assertThat(RedisExceptionTranslator.isRedirect(half)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = { "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381" })
    void aRedirectedCallIsRetriedOnAClusterOnly(String error) throws Exception {
        int[] calls = { 0 };
        ScriptRunner runner = mock(ScriptRunner.class);
        when(runner.run(any(), any(), any(), any())).thenCallRealMethod();
        when(runner.run(any(), any(), any())).thenAnswer(
                (call) -> (++calls[0] < 3) ? CompletableFuture.failedFuture(translate(new RuntimeException(error)))
                        : CompletableFuture.completedFuture(List.of()));
        byte[][] none = {};

        assertThat(new SlotMoveRetryingScriptRunner(runner, Duration.ofSeconds(30), true)
            .run(RedisScripts.FIND, none, none)
            .get(30, TimeUnit.SECONDS)).isEmpty();
        assertThat(calls[0]).isEqualTo(3);

        calls[0] = 0;
        assertThat(new SlotMoveRetryingScriptRunner(runner, Duration.ofSeconds(30), false).run(RedisScripts.FIND, none,
                none))
            .isCompletedExceptionally();
        assertThat(calls[0]).isOne();
    }

    private static DelayQueueException translate(Throwable failure) {
        return RedisExceptionTranslator.translate(RedisScripts.SCHEDULE, failure, Duration.ofSeconds(1));
    }

}
