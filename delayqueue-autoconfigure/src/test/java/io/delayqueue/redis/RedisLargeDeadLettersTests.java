package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests pages of large dead letters: no reply of Redis is larger than about a mebibyte,
 * as Redis serves no other client meanwhile.
 */
@Tag("server")
class RedisLargeDeadLettersTests {

    private static final Duration LEASE = Duration.ofSeconds(30);

    /** A dead letter of the first partition exceeds the limit of a reply. */
    private static final List<byte[]> ENVELOPES = List.of(envelope(1_100_000), envelope(1));

    private static final int EACH = 5;

    private static LettuceConnectionFactory connections;

    private final List<Partition> partitions = List.of(new Partition(new QueueName("large"), 0),
            new Partition(new QueueName("large"), 1));

    private final ManualClock clock = new ManualClock();

    private final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            "large-" + UUID.randomUUID());

    private final RedisMessageStore store = new RedisMessageStore(this.redis);

    private final RedisMessageInspector inspector = new RedisMessageInspector(this.redis,
            new EnvelopeCodec(JsonMapper.builder().build()));

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.preferred()));
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Test
    void pagesEndEarlyAndNoDeadLetterIsSkipped() {
        for (int i = 0; i < EACH; i++) {
            this.partitions.forEach(this::addDeadLetters);
            this.clock.advance(Duration.ofMillis(1));
        }

        List<DeadLetter> deadLetters = new ArrayList<>();
        String cursor = null;
        do {
            String from = cursor;
            List<DeadLetterPage> pages = this.partitions.stream()
                .map((partition) -> done(this.inspector.deadLetters(partition, from, 100)))
                .toList();
            assertThat(pages.get(0).deadLetters()).hasSize(1);
            DeadLetterPage page = DeadLetterCursor.merge(pages, 100);
            deadLetters.addAll(page.deadLetters());
            cursor = page.nextCursor();
        }
        while (cursor != null);

        assertThat(deadLetters).extracting(DeadLetter::id).hasSize(2 * EACH).doesNotHaveDuplicates();
        assertThat(deadLetters).extracting(DeadLetter::deadLetteredAt)
            .isSortedAccordingTo((one, other) -> other.compareTo(one));
    }

    /** Otherwise it would hide all dead letters of its page. */
    @Test
    void aDeadLetterThatTheCodecFailsOnIsListedWithoutPayload() {
        Partition partition = this.partitions.get(1);
        addDeadLetters(partition);
        EnvelopeCodec failing = new EnvelopeCodec(JsonMapper.builder().build()) {
            @Override
            public Envelope read(byte[] envelope) {
                throw new StackOverflowError();
            }
        };

        DeadLetterPage page = done(new RedisMessageInspector(this.redis, failing).deadLetters(partition, null, 100));

        assertThat(page.deadLetters()).singleElement().extracting(DeadLetter::payload).isNull();
    }

    private void addDeadLetters(Partition partition) {
        String id = "of-" + partition.index() + "-" + this.clock.now().toEpochMilli();
        done(this.store.schedule(new PartitionTarget(partition, 0),
                List.of(NewMessage.of(id, DueTime.NOW, ENVELOPES.get(partition.index())))));
        ClaimedMessage claimed = done(this.store.claim(partition, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP)))
            .messages()
            .get(0);
        done(this.store.deadLetter(claimed.lease(), new DeadLetterRequest("why", true, this.clock.now())));
    }

    private static byte[] envelope(int length) {
        return "{\"v\":1,\"payload\":\"%s\"}".formatted("x".repeat(length)).getBytes(StandardCharsets.US_ASCII);
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}
