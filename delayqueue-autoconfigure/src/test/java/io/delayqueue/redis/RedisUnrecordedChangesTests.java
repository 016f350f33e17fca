package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.zset.Tuple;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the bound of the changes of a ledger that no journal has recorded. */
@Tag("server")
class RedisUnrecordedChangesTests {

    private static final Partition QUEUE = Partition.first(new QueueName("unrecorded"));

    private static final int CHUNK = 10_000;

    private static LettuceConnectionFactory connections;

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            "unrecorded-test");

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterEach
    void removeAll() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.keyCommands().keys(bytes("unrecorded-test:*")).forEach((each) -> {
                connection.keyCommands().del(each);
            });
        }
        this.redis.close();
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    /**
     * While the database is away, handlers go on until Redis keeps a million ends, or
     * other changes, of a partition. Then nothing is claimed until a journal has recorded
     * some. None is dropped, as its message would be restored, and handled again.
     */
    @Test
    void nothingOfALedgerIsClaimedWhileTooManyChangesWait() {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            for (String id : List.of("1", "2", "3")) {
                this.store
                    .schedule(PartitionTarget.first(QUEUE.queue()),
                            List.of(NewMessage.of(id, DueTime.NOW, bytes("{\"v\":1,\"payload\":1}"))))
                    .join();
            }
            for (int first = 0; first < LedgerRequest.MAX_UNRECORDED; first += CHUNK) {
                connection.zSetCommands().zAdd(key("changes"), changes(first, 0));
            }

            assertThat(claim().messages()).as("of a queue that is no ledger").hasSize(1);
            connection.stringCommands().set(key("partitions"), bytes("1|1j"));
            ClaimResult full = claim();
            connection.zSetCommands().zAdd(key("changes"), changes(0, -ManualClock.START.toEpochMilli()));
            ClaimResult recorded = claim();

            assertThat(full.messages()).isEmpty();
            assertThat(full.nextAt()).isEqualTo(ManualClock.START.plusSeconds(1));
            assertThat(recorded.messages()).as("once a journal has recorded some").hasSize(1);
        }
    }

    private static Set<Tuple> changes(int first, double score) {
        return IntStream.range(first, first + CHUNK)
            .mapToObj((i) -> Tuple.of(bytes((i + 1) + " order"), score))
            .collect(Collectors.toSet());
    }

    private ClaimResult claim() {
        return this.store.claim(QUEUE, new ClaimRequest(1, Duration.ofMinutes(1), ExpiryPolicy.DROP, null)).join();
    }

    private static byte[] key(String kind) {
        return bytes("unrecorded-test:{unrecorded}:" + kind);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

}
