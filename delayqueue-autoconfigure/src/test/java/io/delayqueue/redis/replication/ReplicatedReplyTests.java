package io.delayqueue.redis.replication;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisPartitionLayoutStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

/**
 * P1: a send that too few replicas confirm is reported as stored only if its message is.
 * The server has no replica, so no send is confirmed.
 */
@Tag("server")
class ReplicatedReplyTests {

    private static final QueueName QUEUE = new QueueName("replies");

    private static final PartitionTarget HOME = PartitionTarget.first(QUEUE);

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static final ReplicationRequirement ONE = new ReplicationRequirement(1, Duration.ofMillis(100));

    private RedisServer server;

    private LettuceConnectionFactory connections;

    private RedisScriptExecutor redis;

    private RedisScriptExecutor waitingRedis;

    /** Does not wait for replicas. */
    private RedisMessageStore store;

    /** Waits for a replica. */
    private RedisMessageStore waiting;

    @BeforeEach
    void start() {
        this.server = RedisServer.start(RedisBinary.preferred());
        this.connections = ConnectionFactories.lettuce(this.server);
        this.redis = RedisScriptExecutor.to(this.connections, "dq", LIMIT);
        this.waitingRedis = RedisScriptExecutor.to(this.connections, "dq", LIMIT, ONE);
        this.store = new RedisMessageStore(this.redis);
        this.waiting = new RedisMessageStore(this.waitingRedis);
    }

    @AfterEach
    void stop() {
        this.waitingRedis.close();
        this.redis.close();
        this.connections.destroy();
        this.server.close();
    }

    @Test
    void aReplacementOfAWaitingMessageIsStored() {
        this.store.schedule(HOME, List.of(message("a", "first", OnDuplicate.KEEP, null))).join();

        assertFails(this.waiting.schedule(HOME, List.of(message("a", "second", OnDuplicate.REPLACE, null))),
                Effect.STORED);

        assertThat(this.server.commands().hget("dq:{replies}:messages", "a")).endsWith(envelope("second"));
    }

    @Test
    void theSuccessorOfALeasedMessageIsStored() {
        this.store.schedule(HOME, List.of(message("a", "first", OnDuplicate.KEEP, null))).join();
        claimOne();

        assertFails(this.waiting.schedule(HOME, List.of(message("a", "second", OnDuplicate.AFTER_CURRENT, null))),
                Effect.STORED);

        assertThat(this.server.commands().hget("dq:{replies}:successors", "a")).endsWith(envelope("second"));
    }

    @Test
    void aChangeOfTheGroupIsReportedAsThat() {
        this.store.schedule(HOME, List.of(message("a", "first", OnDuplicate.KEEP, null))).join();

        assertThatThrownBy(() -> this.waiting
            .schedule(HOME,
                    List.of(message("b", "other", OnDuplicate.KEEP, "g"),
                            message("a", "second", OnDuplicate.REPLACE, "g")))
            .join()).hasCauseInstanceOf(MessageGroupChangeException.class);

        assertThat(this.server.commands().hkeys("dq:{replies}:messages")).containsExactly("a");
    }

    @Test
    void aMessageInItsDuplicateWindowIsDeduplicated() {
        NewMessage once = message("a", "first", OnDuplicate.KEEP, null).withDuplicateWindow(Duration.ofHours(1));
        this.store.schedule(HOME, List.of(once)).join();
        this.store.acknowledge(HOME.partition(), List.of(claimOne())).join();

        assertThat(this.waiting.schedule(HOME, List.of(once)).join()).singleElement()
            .satisfies((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.DEDUPLICATED));
    }

    @Test
    void aMessageThatIsLeftOutOfAFormerPartitionIsNotReportedAsStored() {
        NewMessage absent = message("absent", "first", OnDuplicate.REPLACE, null);
        assertThat(this.waiting.scheduleIfHeld(HOME, List.of(absent)).join().get(0)).isEmpty();

        this.store.schedule(HOME, List.of(message("held", "first", OnDuplicate.KEEP, null))).join();
        NewMessage held = message("held", "second", OnDuplicate.REPLACE, null);
        assertFails(this.waiting.scheduleIfHeld(HOME, List.of(held)), Effect.STORED);
        assertFails(this.waiting.scheduleIfHeld(HOME, List.of(held, absent)), Effect.UNKNOWN);
    }

    /** Its former partition does not hold the message, which the current one stores. */
    @Test
    void theDeadLetterOfARepartitionedQueueIsRemovedOnceItsMessageIsStored() {
        RedisPartitionLayoutStore records = new RedisPartitionLayoutStore(this.redis);
        PartitionLayout four = new PartitionLayout(1, List.of(1, 4), true);
        String id = IntStream.range(0, 100)
            .mapToObj((number) -> "m" + number)
            .filter((each) -> !four.target(QUEUE, each).partition().equals(Partition.first(QUEUE)))
            .findFirst()
            .orElseThrow();
        this.store.schedule(HOME, List.of(message(id, "first", OnDuplicate.KEEP, null))).join();
        Lease lease = claimOne();
        this.store.deadLetter(lease, new DeadLetterRequest("failed", true, Instant.EPOCH)).join();
        assertThat(records.establish(QUEUE, 4).join().counts()).isEqualTo(four.counts());
        RedisMessageInspector inspector = new RedisMessageInspector(this.redis,
                new EnvelopeCodec(JsonMapper.builder().build()));
        PartitionRouter router = new PartitionRouter(new StoreComponents(this.waiting, inspector, mock(),
                new PartitionLayouts(records, (queue) -> 0, () -> 0)));

        assertFails(router.redrive(QUEUE, lease.deadLetterId()), Effect.STORED);

        assertThat(inspector.find(four.target(QUEUE, id), id).join()).isPresent();
        assertThat(inspector.deadLetter(Partition.first(QUEUE), lease.deadLetterId()).join()).isEmpty();
    }

    private Lease claimOne() {
        return this.store.claim(HOME.partition(), new ClaimRequest(1, LIMIT, ExpiryPolicy.DROP))
            .join()
            .messages()
            .get(0)
            .lease();
    }

    private static void assertFails(CompletableFuture<?> answer, Effect effect) {
        assertThatThrownBy(answer::join).cause().isInstanceOfSatisfying(DelayQueueException.class, (failure) -> {
            assertThat(failure.effect()).isEqualTo(effect);
            assertThat(failure instanceof NotReplicatedException).isEqualTo(effect == Effect.STORED);
        });
    }

    private static NewMessage message(String id, String payload, OnDuplicate onDuplicate, @Nullable String group) {
        return new NewMessage(id, false, DueTime.NOW, onDuplicate, MessageLimits.NORMAL_PRIORITY, null, group,
                envelope(payload).getBytes(StandardCharsets.UTF_8));
    }

    private static String envelope(String payload) {
        return "{\"v\":1,\"payload\":\"%s\"}".formatted(payload);
    }

}
