package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.routing.PartitionLayouts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the wake mark: a send that is due before it publishes a wake-up (P3), and it is
 * removed with the last message (P10).
 */
@Tag("server")
class RedisWakeMarkTests {

    private static final Partition QUEUE = Partition.first(new QueueName("marks"));

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final byte[] ENVELOPE = "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);

    private static LettuceConnectionFactory connections;

    private final String namespace = "marks-" + UUID.randomUUID();

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            this.namespace);

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final KeyInvariants audit = new KeyInvariants(connections, this.namespace, QUEUE);

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Test
    void theMarkIsTheTimeOfTheNextPollAndAnEarlierSendLowersIt() {
        send("late", Duration.ofSeconds(60));
        claim();
        assertThat(mark()).isEqualTo(at(60));

        send("later", Duration.ofSeconds(90));
        assertThat(mark()).isEqualTo(at(60));
        send("early", Duration.ofSeconds(30));
        assertThat(mark()).isEqualTo(at(30));
    }

    @Test
    void theMarkOfABatchIsItsEarliestDueTime() {
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(NewMessage.of("a", DueTime.after(Duration.ofSeconds(60)), ENVELOPE),
                        NewMessage.of("b", DueTime.after(Duration.ofSeconds(30)), ENVELOPE))));

        assertThat(mark()).isEqualTo(at(30));
    }

    /** P3: workers that poll for the earlier message need a wake-up for one before it. */
    @Test
    void aRescheduleToALaterTimeDoesNotRaiseTheMark() {
        send("early", Duration.ofSeconds(60));
        send("late", Duration.ofSeconds(120));
        claim();

        done(this.store.reschedule(PartitionTarget.first(QUEUE.queue()), "late",
                DueTime.after(Duration.ofSeconds(90))));

        assertThat(mark()).isEqualTo(at(60));
    }

    @Test
    void aClaimThatReachesItsLimitSetsNoMark() {
        send("a", Duration.ZERO);
        send("b", Duration.ofSeconds(60));

        claim(1);

        assertThat(this.audit.present()).doesNotContain(key("wake"));
    }

    @Test
    void aClaimThatLeavesDueMessagesBehindSetsTheMarkToNow() {
        send("a", Duration.ZERO);
        send("b", Duration.ZERO);
        claimAll();
        send("c", Duration.ofSeconds(1));
        send("d", Duration.ofSeconds(1));
        claimAll();
        this.clock.advance(Duration.ofSeconds(1));
        write((redis) -> redis.stringCommands().set(bytes(key("wake")), bytes(Long.toString(at(100)))));

        claim(1);

        assertThat(mark()).isEqualTo(at(1));
    }

    /** Otherwise every send would wake workers that may not claim. */
    @Test
    void aClaimOfAPausedQueueLeavesTheMark() {
        send("late", Duration.ofSeconds(60));
        claim();
        PartitionLayouts layouts = new PartitionLayouts(new RedisPartitionLayoutStore(this.redis), (queue) -> 0,
                System::nanoTime);
        done(layouts.pause(QUEUE.queue(), null));

        claim();

        assertThat(mark()).isEqualTo(at(60));
    }

    /** P3: another producer stored the message without a wake-up. */
    @Test
    void aSendToAHeldIdSetsTheMarkForTheStoredMessage() {
        write((redis) -> redis.hashCommands().hSet(bytes(key("messages")), bytes("f"), bytes("-foreign{}")));
        write((redis) -> redis.zSetCommands().zAdd(bytes(key("scheduled")), (double) at(7), bytes("f")));

        send("f", Duration.ofSeconds(60));

        assertThat(mark()).isEqualTo(at(7));
    }

    /** P10: each call that removes the last message removes the wake mark. */
    @Test
    void endingTheLastLapsedLeaseLeavesNoKey() {
        for (Runnable call : List.<Runnable>of(() -> done(this.store.cancel(PartitionTarget.first(QUEUE.queue()), "a")),
                () -> done(this.store.reschedule(PartitionTarget.first(QUEUE.queue()), "a", DueTime.NOW)),
                () -> done(this.store.scheduleIfHeld(PartitionTarget.first(QUEUE.queue()),
                        List.of(NewMessage.of("a", DueTime.NOW, ENVELOPE)))))) {
            send("a", Duration.ZERO);
            claim();
            done(this.store.cancel(PartitionTarget.first(QUEUE.queue()), "a"));
            this.clock.advance(LEASE);
            assertThat(this.audit.present()).contains(key("wake"));

            call.run();

            this.audit.checkNothingLeft();
        }
    }

    private void send(String id, Duration delay) {
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(NewMessage.of(id, DueTime.after(delay), ENVELOPE))));
    }

    private ClaimResult claim() {
        return claim(100);
    }

    private ClaimResult claim(int limit) {
        return done(this.store.claim(QUEUE, new ClaimRequest(limit, LEASE, ExpiryPolicy.DROP,
                new PrimaryPollerBid("a", PrimaryPollerBid.Kind.RENEW, 0, LEASE))));
    }

    private void claimAll() {
        List<Lease> leases = claim().messages().stream().map((message) -> message.lease()).toList();
        if (!leases.isEmpty()) {
            done(this.store.acknowledge(QUEUE, leases));
        }
    }

    private long mark() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            byte[] mark = connection.stringCommands().get(bytes(key("wake")));
            assertThat(mark).isNotNull();
            return Long.parseLong(new String(mark, StandardCharsets.UTF_8));
        }
    }

    private void write(Consumer<RedisConnection> write) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            write.accept(connection);
        }
    }

    private String key(String kind) {
        return this.namespace + ":{marks}:" + kind;
    }

    private static long at(long seconds) {
        return ManualClock.START.plusSeconds(seconds).toEpochMilli();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}
