package io.delayqueue.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What is made of what a server tells of itself; real servers are integration tests. */
class RedisServerCheckTests {

    @Test
    void aServerThatIsTooOldIsRefusedWithItsVersion() {
        assertThatExceptionOfType(UnsuitableRedisException.class)
            .isThrownBy(() -> check("redis_version:6.0.16", "ZMSCORE: ERR unknown command"))
            .withMessage("Redis 6.0.16 is too old: version 6.2 or later is needed")
            .satisfies((ex) -> assertThat(ex.remedy()).isEqualTo("Use a newer Redis."));
        assertThatExceptionOfType(UnsuitableRedisException.class)
            .isThrownBy(() -> check("redis_version:5.0.14", "ZRANGE: ERR syntax error"));
    }

    @Test
    void versionsFromTheOldestOnAreAccepted() {
        assertThat(check("redis_version:6.2.0", "")).isTrue();
        assertThat(check("redis_version:7.0.15", "")).isTrue();
        assertThat(check("redis_version:10.1.0-rc1", "")).isTrue();
    }

    @Test
    void aServerThatDoesNotTellItsVersionIsAccepted() {
        assertThat(check("", "")).isTrue();
    }

    @Test
    void aMissingPermissionIsNamed() {
        assertThatExceptionOfType(UnsuitableRedisException.class)
            .isThrownBy(() -> check("redis_version:7.0.15", "ZREM: NOPERM this user has no permissions to run 'zrem'"))
            .withMessageContaining("lacks a permission")
            .withMessageContaining("'zrem'");
    }

    @Test
    void aServerThatCannotWriteNowIsLookedAtLater() {
        assertThat(check("redis_version:7.0.15", "DEL: READONLY You can't write against a read only replica."))
            .isFalse();
        assertThat(check("redis_version:6.2.11", "DEL: @user_script: 12: -READONLY You can't write")).isFalse();
        assertThat(check("redis_version:7.0.15", "ZADD: MISCONF Redis is configured to save")).isFalse();
        assertThat(check("redis_version:7.0.15", "DEL: NOREPLICAS Not enough good replicas to write.")).isFalse();
    }

    @Test
    void aServerThatIsAwayIsNotKnown() {
        assertThat(check(CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null))))
            .isFalse();
        assertThat(check(new CompletableFuture<>())).isFalse();
    }

    private static boolean check(String server, String denied) {
        List<Object> reply = List.of(Replies.bytes(server), Replies.bytes(""), Replies.bytes(denied), 0L);
        return check(CompletableFuture.completedFuture(reply));
    }

    private static boolean check(CompletableFuture<List<Object>> reply) {
        ScriptRunner runner = new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return reply;
            }

            @Override
            public void close() {
                // Holds nothing.
            }

        };
        return new RedisServerCheck(new RedisAccess(runner, "dq"), new RedisTemplate<>(), WakeUpMode.CHANNEL)
            .run(Duration.ofMillis(100));
    }

}
