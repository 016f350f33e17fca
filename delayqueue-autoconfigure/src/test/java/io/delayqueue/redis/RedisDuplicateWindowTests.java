package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the key of duplicate windows: it expires with the last window, it is trimmed and
 * bounded, and queues without windows have neither it nor an entry for them.
 */
@Tag("server")
class RedisDuplicateWindowTests {

    private static final Partition QUEUE = Partition.first(new QueueName("windows"));

    private static final Duration WINDOW = Duration.ofHours(1);

    private static final byte[] ENVELOPE = "{\"v\":1,\"payload\":1}".getBytes(StandardCharsets.UTF_8);

    private static LettuceConnectionFactory connections;

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            "windows-test");

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final byte[] key = key("duplicates");

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterEach
    void removeAll() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.keyCommands().keys("windows-test:*".getBytes(StandardCharsets.UTF_8)).forEach((each) -> {
                connection.keyCommands().del(each);
            });
        }
        this.redis.close();
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    private static byte[] key(String kind) {
        return ("windows-test:{windows}:" + kind).getBytes(StandardCharsets.UTF_8);
    }

    private SendResult send(String id, @Nullable Duration window) {
        return this.store
            .schedule(PartitionTarget.first(QUEUE.queue()),
                    List.of(NewMessage.of(id, DueTime.NOW, ENVELOPE).withDuplicateWindow(window)))
            .join()
            .get(0);
    }

    private List<Lease> claim() {
        return this.store.claim(QUEUE, new ClaimRequest(100, Duration.ofMinutes(1), ExpiryPolicy.DROP, null))
            .join()
            .messages()
            .stream()
            .map((message) -> message.lease())
            .toList();
    }

    private void handled(String id, @Nullable Duration window) {
        assertThat(send(id, window).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(this.store.acknowledge(QUEUE, claim()).join()).containsOnly(true);
    }

    @Test
    void theKeyExpiresWithItsLastId() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            handled("long", WINDOW);
            handled("short", Duration.ofMinutes(1));

            assertThat(connection.keyCommands().pTtl(this.key)).isBetween(WINDOW.toMillis() - 30_000,
                    WINDOW.toMillis() + 1);
            assertThat(connection.zSetCommands().zCard(this.key)).isEqualTo(2);
            assertThat(connection.keyCommands().exists(key("revisions"))).isFalse();
        }
    }

    @Test
    void windowsThatHaveEndedAreRemovedAHundredACall() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            for (int i = 0; i < 150; i++) {
                connection.zSetCommands().zAdd(this.key, 1, ("old-" + i).getBytes(StandardCharsets.UTF_8));
            }
            send("new", WINDOW);
            assertThat(connection.zSetCommands().zCard(this.key)).isEqualTo(50);

            assertThat(this.store.acknowledge(QUEUE, claim()).join()).containsExactly(true);
            assertThat(connection.zSetCommands().zCard(this.key)).isOne();
        }
    }

    /** Bounds the memory of the windows that have begun. */
    @Test
    void sendsWithAWindowAreRefusedOnceTooManyHaveBegun() {
        long later = ManualClock.START.plus(WINDOW).toEpochMilli();
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.openPipeline();
            for (int i = 0; i < NewMessage.MAX_WINDOWS; i++) {
                connection.zSetCommands().zAdd(this.key, later, ("other-" + i).getBytes(StandardCharsets.UTF_8));
            }
            connection.closePipeline();

            assertThat(send("plain", null).outcome()).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(send("plain", WINDOW).outcome()).isEqualTo(SendOutcome.KEPT);
            assertThat(send("other-7", WINDOW).outcome()).isEqualTo(SendOutcome.DEDUPLICATED);
            assertThatThrownBy(() -> send("new", WINDOW)).hasCauseInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("Message 'new' of queue 'windows' is refused")
                .hasMessageContaining("100,000");
            assertThat(connection.hashCommands().hExists(key("messages"), "new".getBytes(StandardCharsets.UTF_8)))
                .isFalse();
        }
    }

    @Test
    void windowsThatHaveEndedDoNotCount() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.openPipeline();
            for (int i = 0; i < NewMessage.MAX_WINDOWS + 1000; i++) {
                connection.zSetCommands().zAdd(this.key, 1, ("old-" + i).getBytes(StandardCharsets.UTF_8));
            }
            connection.closePipeline();

            assertThat(send("new", WINDOW).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        }
    }

    /** Otherwise a ledger would take a window for a row. */
    @Test
    void aWindowIsNoRevisionOfAJournal() {
        send("a", WINDOW);

        assertThat(this.store.heldRevisions(QUEUE, "0").join().revisions()).isEmpty();
        assertThat(this.store.heldRevisions(QUEUE, List.of(LedgerEntry.ended(7, "a"))).join())
            .containsExactly(new HeldRevision(false, 0));
    }

    @Test
    void aQueueWithoutWindowsHasNoEntryOfThem() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            send("a", null);
            assertThat(connection.keyCommands().exists(key("revisions"))).isFalse();
            send("b", null);
            List<Lease> leases = claim();
            this.store.acknowledge(QUEUE, leases.subList(0, 1)).join();
            this.store.deadLetter(leases.get(1), new DeadLetterRequest("cause", true, ManualClock.START)).join();

            assertThat(connection.keyCommands().exists(this.key)).isFalse();
        }
    }

}
