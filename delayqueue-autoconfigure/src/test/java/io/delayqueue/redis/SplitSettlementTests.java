package io.delayqueue.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.store.UnstartedLease;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Checks settlements of several leases that take two calls: a failure of the second one
 * never denies the effect of the first.
 */
class SplitSettlementTests {

    private static final Partition PARTITION = Partition.first(new QueueName("orders"));

    private static final List<Lease> LEASES = List.of(new Lease(PARTITION, "a", "1"), new Lease(PARTITION, "b", "1"));

    /** The answer of a script for a lease that is lost. */
    private static final long LOST = 0;

    private static final long DONE = 1;

    /** The successors of others were large. */
    private static final long LEFT = 2;

    /** The message has a duplicate window. */
    private static final long HAS_WINDOW = 3;

    static Stream<Arguments> settlements() {
        Settlement acknowledge = (store) -> store.acknowledge(PARTITION, LEASES);
        Settlement release = (store) -> store.release(PARTITION, LEASES, Duration.ZERO);
        Settlement releaseUnstarted = (store) -> store.release(PARTITION,
                LEASES.stream().map((lease) -> new UnstartedLease(lease, Instant.EPOCH)).toList());
        return Stream.of(arguments(acknowledge, DONE, HAS_WINDOW, Effect.UNKNOWN),
                arguments(acknowledge, DONE, LEFT, Effect.UNKNOWN), arguments(release, DONE, LEFT, Effect.UNKNOWN),
                arguments(releaseUnstarted, DONE, LEFT, Effect.UNKNOWN),
                arguments(acknowledge, HAS_WINDOW, HAS_WINDOW, Effect.NONE),
                arguments(acknowledge, LOST, HAS_WINDOW, Effect.NONE), arguments(release, LOST, LEFT, Effect.NONE));
    }

    @ParameterizedTest
    @MethodSource("settlements")
    void aFailureOfTheSecondCallReportsTheEffectOfBoth(Settlement settlement, long first, long second, Effect effect) {
        CompletableFuture<List<Boolean>> answer = settlement.apply(answeringOnce(List.of(0L, first, second)));

        assertThatThrownBy(answer::join).cause()
            .isInstanceOfSatisfying(DelayQueueException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(effect));
    }

    /** Returns a store of which all calls after the first are rejected. */
    private static RedisMessageStore answeringOnce(List<Object> reply) {
        AtomicInteger calls = new AtomicInteger();
        return new RedisMessageStore(new RedisScriptExecutor(new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return (calls.getAndIncrement() == 0) ? CompletableFuture.completedFuture(reply)
                        : CompletableFuture.failedFuture(new StoreRefusedException("READONLY", null));
            }

            @Override
            public void close() {
            }

        }, "split"));
    }

    /** Settles the leases. */
    private interface Settlement extends Function<RedisMessageStore, CompletableFuture<List<Boolean>>> {

    }

}
