package io.delayqueue.redis;

import java.time.Duration;
import java.util.UUID;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** P3, whatever score another producer gives a message. */
@Tag("server")
class RedisForeignScoresTests {

    private static final Partition QUEUE = Partition.first(new QueueName("foreign"));

    private final RedisServer server = RedisServer.shared(RedisBinary.preferred());

    private final String namespace = "foreign-" + UUID.randomUUID();

    private ClaimResult claimAfter(double... scores) {
        String stem = this.namespace + ":{foreign}:";
        for (int i = 0; i < scores.length; i++) {
            this.server.commands().hset(stem + "messages", "m" + i, "sforeign{\"payload\":1}");
            this.server.commands().zadd(stem + "scheduled", scores[i], "m" + i);
        }
        LettuceConnectionFactory connections = ConnectionFactories.lettuce(this.server);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, this.namespace, Duration.ofSeconds(30))) {
            return new RedisMessageStore(redis)
                .claim(QUEUE, new ClaimRequest(1, Duration.ofMinutes(1), ExpiryPolicy.DROP))
                .join();
        }
        finally {
            connections.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = { 0, -0.5, -1_790_000_000_000d, Double.NEGATIVE_INFINITY })
    void whatIsLongDueIsClaimedAndMoreOfItIsToldOf(double score) {
        ClaimResult claim = claimAfter(score, score);

        assertThat(claim.messages()).hasSize(1);
        assertThat(claim.nextIn()).isZero();
    }

    @Test
    void whatIsNeverDueKeepsNobodyBusy() {
        ClaimResult claim = claimAfter(Double.POSITIVE_INFINITY);

        assertThat(claim.messages()).isEmpty();
        assertThat(claim.nextIn()).isGreaterThan(Duration.ofDays(365));
    }

    @Test
    void aLeaseThatNeverEndsKeepsNobodyBusy() {
        String stem = this.namespace + ":{foreign}:";
        this.server.commands().hset(stem + "messages", "m", "sforeign{\"payload\":1}");
        this.server.commands().zadd(stem + "leased", Double.POSITIVE_INFINITY, "m");

        assertThat(claimAfter().nextIn()).isGreaterThan(Duration.ofDays(365));
    }

}
