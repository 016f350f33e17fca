package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.redis.replication.ReplicationRequirement;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionTarget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends of plain messages share calls only where that keeps the order of an id and the
 * wait for replicas, and a failure never denies what is stored.
 */
class PlainSendTests {

    private static final PartitionTarget TARGET = PartitionTarget.first(new QueueName("orders"));

    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** The limit is that of the send, not of each of its calls. */
    @Test
    void aHeldIdIsResolvedInWhatIsLeftOfTheLimit() {
        Map<String, Duration> limits = new LinkedHashMap<>();
        RedisMessageStore store = new RedisMessageStore(new RedisScriptExecutor(new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                throw new IllegalStateException(script.name() + " has no limit");
            }

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments,
                    Duration limit) {
                limits.put(script.name(), limit);
                return script.name().equals("send") ? CompletableFuture.completedFuture(List.of())
                        : new CompletableFuture<>();
            }

            @Override
            public void close() {
            }

        }, "merged", LIMIT));

        store.schedule(TARGET, List.of(new NewMessage("m", true, DueTime.NOW, OnDuplicate.KEEP,
                MessageLimits.NORMAL_PRIORITY, null, null, "{}".getBytes(StandardCharsets.US_ASCII))));

        assertThat(limits.keySet()).containsExactly("send", "schedule");
        assertThat(limits.get("send")).isEqualTo(LIMIT);
        assertThat(limits.get("schedule")).isPositive().isLessThan(LIMIT);
    }

    /** Or the caller of a generated id would send it again, under another one. */
    @Test
    void anIdThatIsHeldMayBeStoredByTheSameCallWhateverFailsThen() {
        assertThat(effectAfterHeldId(true)).isEqualTo(Effect.UNKNOWN);
        assertThat(effectAfterHeldId(false)).isEqualTo(Effect.UNKNOWN);
    }

    private static Effect effectAfterHeldId(boolean generated) {
        RedisMessageStore store = new RedisMessageStore(new RedisScriptExecutor(new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return script.name().equals("send") ? CompletableFuture.completedFuture(List.of()) : CompletableFuture
                    .failedFuture(new StoreUnavailableException("nothing was changed", Effect.NONE, null));
            }

            @Override
            public void close() {
            }

        }, "merged"));
        try {
            store.schedule(TARGET, List.of(message("m", generated))).join();
            throw new AssertionError("succeeded");
        }
        catch (CompletionException ex) {
            return ((DelayQueueException) ex.getCause()).effect();
        }
    }

    /**
     * Or a call could have one id twice, and a later send of an id pass an earlier one.
     */
    @Test
    void sendsOfIdsOfTheApplicationAreNotMerged() {
        assertThat(callsOf(false, LIMIT)).isEqualTo(12);
        assertThat(callsOf(true, LIMIT)).isEqualTo(SendMerger.MAX_CALLS);
    }

    /** Those are batched by their own runner. */
    @Test
    void sendsThatWaitForReplicasAreNotMerged() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory();
        ReplicationRequirement wait = new ReplicationRequirement(1, Duration.ofSeconds(1));
        assertThat(RedisScriptExecutor.to(factory, "merged", LIMIT).mergedLimit()).isEqualTo(LIMIT);
        assertThat(RedisScriptExecutor.to(factory, "merged", LIMIT, wait).mergedLimit()).isNull();

        assertThat(callsOf(true, null)).isEqualTo(12);
    }

    /** Returns how many calls twelve sends make whose answers are pending. */
    private static int callsOf(boolean generated, @Nullable Duration limit) {
        AtomicInteger calls = new AtomicInteger();
        ScriptRunner runner = new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                calls.incrementAndGet();
                return new CompletableFuture<>();
            }

            @Override
            public void close() {
            }

        };
        RedisMessageStore store = new RedisMessageStore((limit != null)
                ? new RedisScriptExecutor(runner, "merged", limit) : new RedisScriptExecutor(runner, "merged"));
        for (int i = 0; i < 12; i++) {
            store.schedule(TARGET, List.of(message("same", generated)));
        }
        return calls.get();
    }

    private static NewMessage message(String id, boolean generated) {
        return new NewMessage(id, generated, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, null,
                "{}".getBytes(StandardCharsets.US_ASCII));
    }

}
