package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Verifies P1 and P7 without a connection: calls keep their order, and their failures
 * report whether they were sent.
 */
@Tag("server")
class LettuceScriptRunnerTests {

    private static final Partition QUEUE = Partition.first(new QueueName("order"));

    @Test
    void callsMadeWhileConnectingAreSentInOrder() {
        LettuceConnectionFactory factory = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
        CountDownLatch all = new CountDownLatch(1);
        RedisConnectionFactory slow = slow(factory, all);
        RedisScriptExecutor redis = new RedisScriptExecutor(new LettuceScriptRunner(slow, Duration.ofSeconds(30)),
                "order-" + UUID.randomUUID());
        RedisMessageStore store = new RedisMessageStore(redis);
        List<CompletableFuture<List<SendResult>>> sent = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            sent.add(store.schedule(PartitionTarget.first(QUEUE.queue()), List.of(replace("a", i))));
        }
        all.countDown();

        assertThat(sent.stream().map((answer) -> answer.join().get(0).outcome())).containsExactly(SendOutcome.SCHEDULED,
                SendOutcome.REPLACED, SendOutcome.REPLACED, SendOutcome.REPLACED, SendOutcome.REPLACED);
        RedisMessageInspector inspector = new RedisMessageInspector(redis,
                new EnvelopeCodec(JsonMapper.builder().build()));
        assertThat(inspector.find(PartitionTarget.first(QUEUE.queue()), "a").join())
            .hasValueSatisfying((message) -> assertThat(message.payload()).isEqualTo("5"));
        store.cancel(PartitionTarget.first(QUEUE.queue()), "a").join();
        redis.close();
        factory.destroy();
    }

    @Test
    void aCallThatWasNeverSentChangedNothing() {
        CountDownLatch never = new CountDownLatch(1);
        RedisScriptExecutor redis = new RedisScriptExecutor(
                new LettuceScriptRunner(slow(mock(RedisConnectionFactory.class), never), Duration.ofMillis(50)), "dq");

        assertThatThrownBy(() -> new RedisMessageStore(redis).cancel(PartitionTarget.first(QUEUE.queue()), "a").join())
            .hasCauseInstanceOf(StoreUnavailableException.class)
            .satisfies((ex) -> assertThat(((StoreUnavailableException) ex.getCause()).effect()).isEqualTo(Effect.NONE));
        never.countDown();
    }

    private static RedisConnectionFactory slow(RedisConnectionFactory factory, CountDownLatch until) {
        RedisConnectionFactory slow = mock(RedisConnectionFactory.class);
        given(slow.getConnection()).willAnswer((call) -> {
            until.await();
            RedisConnection connection = factory.getConnection();
            return (connection != null) ? connection : mock(RedisConnection.class);
        });
        return slow;
    }

    private static NewMessage replace(String id, int payload) {
        byte[] envelope = "{\"v\":1,\"payload\":%d}".formatted(payload).getBytes(StandardCharsets.UTF_8);
        return new NewMessage(id, false, DueTime.after(Duration.ofHours(1)), OnDuplicate.REPLACE,
                MessageLimits.NORMAL_PRIORITY, null, null, envelope);
    }

}
