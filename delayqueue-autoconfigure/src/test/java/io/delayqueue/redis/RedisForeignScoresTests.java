package io.delayqueue.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies P3 for messages that another producer stored with unusual scores. */
@Tag("server")
class RedisForeignScoresTests {

    private static final Partition QUEUE = Partition.first(new QueueName("foreign"));

    private static final Duration LEASE = Duration.ofMinutes(1);

    private final RedisServer server = RedisServer.shared(RedisBinary.preferred());

    private final String namespace = "foreign-" + UUID.randomUUID();

    private ClaimResult claimAfter(double... scores) {
        return claimAfter(false, scores);
    }

    private ClaimResult claimAfter(boolean backlog, double... scores) {
        String stem = this.namespace + ":{foreign}:";
        for (int i = 0; i < scores.length; i++) {
            this.server.commands().hset(stem + "messages", "m" + i, "sforeign{\"payload\":1}");
            this.server.commands().zadd(stem + "scheduled", scores[i], "m" + i);
        }
        LettuceConnectionFactory connections = ConnectionFactories.lettuce(this.server);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, this.namespace, Duration.ofSeconds(30))) {
            return new RedisMessageStore(redis)
                .claim(QUEUE, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP, null, LEASE, backlog))
                .join();
        }
        finally {
            connections.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = { 0, -0.5, -1_790_000_000_000d, 1_600_000_000_000.25, -0.0, Double.NEGATIVE_INFINITY })
    void aClaimOfABacklogReturnsALongDueMessageAndReportsThatMoreAreDue(double score) {
        ClaimResult claim = claimAfter(true, score, score);

        assertThat(claim.messages()).hasSize(1);
        assertThat(claim.nextIn()).isZero();
    }

    @ParameterizedTest
    @ValueSource(doubles = { 8_000_000_000_000.25, Double.POSITIVE_INFINITY })
    void aClaimOfABacklogLeavesAMessageThatIsNotDue(double score) {
        assertThat(claimAfter(true, score, score).messages()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(doubles = { 0, -0.5, -1_790_000_000_000d, Double.NEGATIVE_INFINITY })
    void claimReturnsALongDueMessageAndReportsThatMoreAreDue(double score) {
        ClaimResult claim = claimAfter(score, score);

        assertThat(claim.messages()).hasSize(1);
        assertThat(claim.nextIn()).isZero();
    }

    @Test
    void aMessageThatIsNeverDueCausesNoEarlyPoll() {
        ClaimResult claim = claimAfter(Double.POSITIVE_INFINITY);

        assertThat(claim.messages()).isEmpty();
        assertThat(claim.nextIn()).isGreaterThan(Duration.ofDays(365));
    }

    /**
     * A score behind those of the last lane counts as one of the last lane, and is passed
     * once.
     */
    @ParameterizedTest
    @ValueSource(doubles = { 9.5e15, 1e300 })
    void aClaimEndsWhereAScoreIsBehindTheLastLane(double score) {
        store("scheduled:priorities", score);

        assertThat(claimAfter().messages()).isEmpty();
    }

    @Test
    void aLeaseThatNeverEndsCausesNoEarlyPoll() {
        String stem = this.namespace + ":{foreign}:";
        this.server.commands().hset(stem + "messages", "m", "sforeign{\"payload\":1}");
        this.server.commands().zadd(stem + "leased", Double.POSITIVE_INFINITY, "m");

        assertThat(claimAfter().nextIn()).isGreaterThan(Duration.ofDays(365));
    }

    /**
     * The fractions cannot all be represented beside the offsets of the lanes; the ids
     * are in the reverse order of the due times.
     */
    @Test
    void pagesListEachMessageWithAFractionalScoreOnce() {
        double due = 1_790_000_000_000d;
        double lane = 1e15;
        store("scheduled", Double.NEGATIVE_INFINITY, -5.25, due, due, due + 0.01, due + 0.99, due + 1, 2 * lane,
                Double.POSITIVE_INFINITY);
        store("scheduled:priorities", Double.NEGATIVE_INFINITY, -7, due, due + 0.01, due + 0.5, due + 1, lane + due,
                lane + due + 0.125, lane + due + 0.5, lane + due + 0.75, lane + due + 1, 7 * lane + due,
                7 * lane + due + 1, 8 * lane + due, 8 * lane + due + 1, 9.5 * lane, 1e300, Double.POSITIVE_INFINITY);

        List<String> all = pagesOf(100);
        assertThat(all).hasSize(27).doesNotHaveDuplicates();
        assertThat(IntStream.rangeClosed(1, 28).mapToObj(this::pagesOf))
            .allSatisfy((paged) -> assertThat(paged).isEqualTo(all));
    }

    private void store(String set, double... scores) {
        String stem = this.namespace + ":{foreign}:";
        for (int i = 0; i < scores.length; i++) {
            String id = "%s-%02d".formatted((i % 2 == 0) ? "z" : "a", 99 - i) + set;
            this.server.commands().hset(stem + "messages", id, "sforeign{\"payload\":1}");
            this.server.commands().zadd(stem + set, scores[i], id);
        }
    }

    /** Returns the ids of all pages of a number of messages, in their order. */
    private List<String> pagesOf(int limit) {
        LettuceConnectionFactory connections = ConnectionFactories.lettuce(this.server);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, this.namespace, Duration.ofSeconds(30))) {
            RedisQueueInspector inspector = new RedisQueueInspector(redis);
            List<String> ids = new ArrayList<>();
            String cursor = null;
            do {
                MessageCursor after = (cursor != null) ? MessageCursor.parse(cursor, MessageSelection.SCHEDULED) : null;
                MessagePage page = ListedMessage.page(MessageSelection.SCHEDULED,
                        List.of(inspector.messages(QUEUE, MessageSelection.SCHEDULED, after, limit + 1).join()), limit);
                page.messages().forEach((message) -> ids.add(message.id()));
                cursor = page.nextCursor();
            }
            while (cursor != null && ids.size() <= 100); // more would be repeated
                                                         // endlessly
            return ids;
        }
        finally {
            connections.destroy();
        }
    }

    /** Another producer need not write details beside a score of a lane. */
    @Test
    void claimReturnsADueMessageOfAnotherLaneWithoutDetails() {
        store("scheduled:priorities", 1, 1e15);

        assertThat(claimAfter(2).messages()).extracting((message) -> message.lease().id())
            .containsExactly("z-99scheduled:priorities");
    }

}
