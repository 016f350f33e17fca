package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.MessageSummary;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that a scan reads a key that Redis returns as a whole, however large. */
@Tag("server")
class RedisScansTests {

    private static final int MESSAGES = 12_000;

    private static final QueueName QUEUE = new QueueName("whole");

    @Test
    void aSetThatRedisReturnsAsAWholeIsReadAsAWhole() {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(), "zset-max-ziplist-entries 20000")) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "scans", Duration.ofMinutes(1))) {
                RedisMessageStore store = new RedisMessageStore(redis);
                for (int from = 0; from < MESSAGES; from += 100) {
                    store.schedule(PartitionTarget.first(QUEUE), messages(from)).join();
                }
                store.claim(Partition.first(QUEUE), new ClaimRequest(1, Duration.ofMinutes(1), ExpiryPolicy.DROP))
                    .join()
                    .messages()
                    .forEach((claimed) -> store.retry(claimed.lease(), Duration.ofDays(365), "is out of paper").join());

                MessageScanPage page = new RedisQueueInspector(redis)
                    .scan(Partition.first(QUEUE), ScanSelection.SCHEDULED, "m-", null)
                    .join();

                assertThat(page.messages()).extracting(MessageSummary::id).hasSize(MESSAGES).doesNotHaveDuplicates();
                assertThat(page.messages()).filteredOn((message) -> message.failures() > 0)
                    .extracting(MessageSummary::id)
                    .containsExactly("m-0");
                assertThat(page.messages()).filteredOn((message) -> message.expiresAt() != null)
                    .extracting(MessageSummary::id)
                    .containsExactly("m-" + (MESSAGES - 1));
            }
            finally {
                connections.destroy();
            }
        }
    }

    private static List<NewMessage> messages(int from) {
        return IntStream.range(from, from + 100)
            .mapToObj((number) -> new NewMessage("m-" + number, false,
                    DueTime.at((number == 0) ? Instant.EPOCH : Instant.parse("2100-01-01T00:00:00Z")), OnDuplicate.KEEP,
                    4, (number == MESSAGES - 1) ? Duration.ofDays(1) : null, null,
                    "{\"payload\":1}".getBytes(StandardCharsets.US_ASCII)))
            .toList();
    }

}
