package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests the keys of a queue (P10), messages without content (P9), and entries that other
 * programs wrote.
 */
@Tag("server")
class RedisKeysTests {

    private static final Partition QUEUE = Partition.first(new QueueName("keys"));

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final byte[] ENVELOPE = "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);

    private static LettuceConnectionFactory connections;

    private final String namespace = "keys-" + UUID.randomUUID();

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            this.namespace);

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final RedisMessageInspector inspector = new RedisMessageInspector(this.redis,
            new EnvelopeCodec(JsonMapper.builder().build()));

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
    void keysHaveTheOrderOfThePreludeAndOneHashTag() {
        List<String> names = Arrays.stream(new RedisKeys("dq", QUEUE).all()).map(String::new).toList();

        assertThat(names).containsExactly("dq:{keys}:messages", "dq:{keys}:scheduled", "dq:{keys}:wake",
                "dq:{keys}:partitions", "dq:{keys}:leased", "dq:{keys}:details", "dq:{keys}:attempts",
                "dq:{keys}:tokens", "dq:{keys}:successors", "dq:{keys}:dead-order", "dq:{keys}:dead-letters",
                "dq:{keys}:scheduled:priorities", "dq:{keys}:waiting", "dq:{keys}:group-heads", "dq:{keys}:primary",
                "dq:{keys}:revisions", "dq:{keys}:changes", "dq:{keys}:journal");
    }

    @Test
    void theProbeUsesTheKeysOfNoValidQueue() {
        String probe = new String(RedisKeys.ofProbe("dq", 1).all()[0], StandardCharsets.UTF_8);

        assertThat(probe).isEqualTo("dq:{_probe:1}:messages");
        assertThatIllegalArgumentException().isThrownBy(() -> new QueueName("_probe:1"));
    }

    @Test
    void aPlainMessageUsesThreeKeysAndTheWakeMark() {
        send("a", Duration.ZERO);
        assertThat(this.audit.present()).containsExactlyInAnyOrder(key("messages"), key("scheduled"), key("wake"));

        Lease lease = claim().messages().get(0).lease();
        assertThat(this.audit.present()).containsExactlyInAnyOrder(key("messages"), key("leased"), key("wake"));

        done(this.store.acknowledge(QUEUE, List.of(lease)));
        assertThat(this.audit.present()).isEmpty();
    }

    @Test
    void messagesWithGeneratedIdsAreStored() {
        NewMessage generated = new NewMessage("g", true, DueTime.NOW, OnDuplicate.KEEP, 4, Duration.ofSeconds(1), null,
                ENVELOPE);

        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()), List.of(generated)));

        assertThat(claim().messages()).hasSize(1);
    }

    @Test
    void aMessageWithoutContentIsADeadLetterThatCannotBeRedriven() {
        send("a", Duration.ZERO);
        hashDelete("messages", "a");

        ClaimResult claim = claim();

        assertThat(claim.messages()).isEmpty();
        assertThat(claim.deadLettered()).singleElement().satisfies((event) -> {
            assertThat(event.id()).isEqualTo("a");
            assertThat(event.reason()).isEqualTo("missing");
        });
        String deadLetterId = claim.deadLettered().get(0).deadLetterId();
        assertThat(done(this.inspector.deadLetters(QUEUE, null, 10)).deadLetters()).singleElement()
            .satisfies((deadLetter) -> assertThat(deadLetter.payload()).isNull());
        assertThat(done(this.store.redrive(PartitionTarget.first(QUEUE.queue()), deadLetterId)))
            .isEqualTo(RedriveResult.EMPTY);
        assertThat(done(this.store.purge(QUEUE, deadLetterId))).isTrue();
        this.audit.checkNothingLeft();
    }

    /** P12: a dead letter that another program damaged differs from a missing one. */
    @Test
    void anUnreadableDeadLetterCannotBeRedrivenAndIsKept() {
        send("a", Duration.ZERO);
        Lease lease = claim().messages().get(0).lease();
        done(this.store.deadLetter(lease, new DeadLetterRequest("why", true, ManualClock.START)));
        hashSet("dead-letters", lease.deadLetterId(), "spoiled");

        RedriveResult result = done(this.store.redrive(PartitionTarget.first(QUEUE.queue()), lease.deadLetterId()));

        assertThat(result).isEqualTo(RedriveResult.EMPTY);
        assertThat(done(this.store.purge(QUEUE, lease.deadLetterId()))).isTrue();
        this.audit.checkNothingLeft();
    }

    /** P5: an entry of a lease that ended proves nothing. */
    @Test
    void aTokenWithoutALeaseSettlesNothing() {
        send("a", Duration.ZERO);
        hashSet("tokens", "a", "5");

        assertThat(done(this.store.acknowledge(QUEUE, List.of(new Lease(QUEUE, "a", "5"))))).containsExactly(false);
        assertThat(done(this.store.retry(new Lease(QUEUE, "a", "5"), LEASE, "boom"))).isFalse();

        assertThat(claim().messages()).hasSize(1);
    }

    /** P3: a message is due again after its lease, with any entry in {@code tokens}. */
    @ParameterizedTest
    @ValueSource(strings = { "nan", "inf", "", "soon", "-1e400" })
    void aLeaseWithAnInvalidTokenLapses(String token) {
        send("a", Duration.ZERO);
        claim();
        hashSet("tokens", "a", token);
        this.clock.advance(LEASE);

        assertThat(claim().messages()).extracting(ClaimedMessage::dueAt).containsExactly(ManualClock.START);
    }

    @Test
    void aForeignProducersMessageIsClaimed() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.hashCommands().hSet(bytes(key("messages")), bytes("f"), concat(bytes("-foreign"), ENVELOPE));
            connection.zSetCommands().zAdd(bytes(key("scheduled")), (double) at(0), bytes("f"));
        }

        assertThat(claim().messages()).singleElement()
            .satisfies((message) -> assertThat(message.envelope()).isEqualTo(ENVELOPE));
    }

    @Test
    void theIdOfADeadLetterContainsTheTokenOfItsLease() {
        send("a", Duration.ZERO);
        Lease lease = claim().messages().get(0).lease();

        done(this.store.deadLetter(lease, new DeadLetterRequest("why", true, ManualClock.START)));

        assertThat(lease.deadLetterId()).isEqualTo("a~" + lease.token());
        assertThat(this.audit.present()).containsExactlyInAnyOrder(key("dead-order"), key("dead-letters"));
    }

    @Test
    void aMessageInheritsNoEntryThatIsLeftOfItsId() {
        hashSet("attempts", "a", "3:0:0:h:1:boom");

        NewMessage message = new NewMessage("a", false, DueTime.NOW, OnDuplicate.KEEP, 9, null, null, ENVELOPE);
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()), List.of(message)));

        assertThat(claim().messages()).extracting(ClaimedMessage::failures).containsExactly(0);
        this.audit.check();
    }

    /**
     * P11: the result has no later due time than that at which the message was claimed.
     */
    @Test
    void aRepeatedSendOfALeasedMessageReturnsNoFutureDueTime() {
        DueTime due = DueTime.after(Duration.ofSeconds(10));
        NewMessage plain = NewMessage.of("a", due, ENVELOPE);
        NewMessage urgent = new NewMessage("b", false, due, OnDuplicate.KEEP, 9, null, null, ENVELOPE);
        List<NewMessage> messages = List.of(plain, urgent);
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()), messages));
        this.clock.advance(Duration.ofSeconds(11));
        assertThat(claim().messages()).hasSize(2);

        List<SendResult> again = done(this.store.schedule(PartitionTarget.first(QUEUE.queue()), messages));

        assertThat(again).extracting(SendResult::outcome).containsOnly(SendOutcome.SCHEDULED);
        assertThat(again).extracting((result) -> result.dueAt().toEpochMilli()).containsExactly(at(11), at(10));
    }

    @Test
    void contentThatIsInNoSetIsReplacedByTheNextSend() {
        hashSet("messages", "half", "sabcdefg" + new String(ENVELOPE, StandardCharsets.UTF_8));

        SendResult result = done(this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(NewMessage.of("half", DueTime.NOW, ENVELOPE))))
            .get(0);

        assertThat(result.outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(claim().messages()).hasSize(1);
    }

    @Test
    void fieldsOfALaterVersionAreIgnoredAndKept() {
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(new NewMessage("a", false, DueTime.NOW, OnDuplicate.KEEP, 5, null, null, ENVELOPE))));
        hashSet("details", "a", at(0) + ":0:5:g1");
        Lease lease = claim().messages().get(0).lease();
        hashSet("successors", "a", "S" + at(60) + ":0:5:g1|snextone" + new String(ENVELOPE, StandardCharsets.UTF_8));
        this.clock.advance(LEASE);

        assertThat(claim().messages()).isEmpty();
        this.audit.check();
        assertThat(done(this.inspector.find(PartitionTarget.first(QUEUE.queue()), "a")))
            .hasValueSatisfying((message) -> assertThat(message.dueAt()).isEqualTo(ManualClock.START.plusSeconds(60)));
        assertThat(done(this.store.acknowledge(QUEUE, List.of(lease)))).containsExactly(false);
    }

    @Test
    void aMessageWithUnknownDetailsIsRedeliveredAfterALapse() {
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(new NewMessage("a", false, DueTime.NOW, OnDuplicate.KEEP, 5, null, null, ENVELOPE))));
        hashSet("details", "a", at(0) + ":0:5:g1");
        claim();
        this.clock.advance(LEASE);

        assertThat(claim().messages()).singleElement()
            .satisfies((message) -> assertThat(message.redelivered()).isTrue());
    }

    @Test
    void aFractionalScoreIsRoundedUp() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.hashCommands().hSet(bytes(key("messages")), bytes("f"), concat(bytes("-foreign"), ENVELOPE));
            connection.zSetCommands().zAdd(bytes(key("scheduled")), at(0) + 0.25, bytes("f"));
        }
        assertThat(done(this.inspector.find(PartitionTarget.first(QUEUE.queue()), "f")))
            .hasValueSatisfying((message) -> assertThat(message.dueAt()).isEqualTo(ManualClock.START.plusMillis(1)));
        assertThat(claim().nextAt()).isEqualTo(ManualClock.START.plusMillis(1));
        this.clock.advance(Duration.ofMillis(1));

        assertThat(claim().messages()).singleElement()
            .satisfies((message) -> assertThat(message.dueAt()).isEqualTo(ManualClock.START.plusMillis(1)));
    }

    @Test
    void scriptsUseTheClockOfTheServer() {
        RedisMessageStore unpinned = new RedisMessageStore(
                RedisScriptExecutor.to(connections, this.namespace, Duration.ofSeconds(30)));
        done(unpinned.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(NewMessage.of("a", DueTime.after(LEASE), ENVELOPE))));

        ClaimResult claim = done(unpinned.claim(QUEUE, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP)));

        assertThat(claim.messages()).isEmpty();
        assertThat(claim.nextIn()).isPositive().isLessThanOrEqualTo(LEASE.plusMillis(1));
        done(unpinned.cancel(PartitionTarget.first(QUEUE.queue()), "a"));
    }

    private void send(String id, Duration delay) {
        done(this.store.schedule(PartitionTarget.first(QUEUE.queue()),
                List.of(NewMessage.of(id, DueTime.after(delay), ENVELOPE))));
    }

    private ClaimResult claim() {
        return done(this.store.claim(QUEUE, new ClaimRequest(100, LEASE, ExpiryPolicy.DROP,
                new PrimaryPollerBid("a", PrimaryPollerBid.Kind.RENEW, 0, LEASE))));
    }

    private String key(String kind) {
        return this.namespace + ":{keys}:" + kind;
    }

    private void hashSet(String kind, String field, String value) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.hashCommands().hSet(bytes(key(kind)), bytes(field), bytes(value));
        }
    }

    private void hashDelete(String kind, String field) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.hashCommands().hDel(bytes(key(kind)), bytes(field));
        }
    }

    private static long at(long seconds) {
        return ManualClock.START.plusSeconds(seconds).toEpochMilli();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}
