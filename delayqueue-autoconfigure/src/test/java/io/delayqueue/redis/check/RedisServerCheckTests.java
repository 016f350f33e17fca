package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.UnsuitableRedisException;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.lettuce.core.RedisException;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The probe of a server is judged; integration tests cover real servers. */
class RedisServerCheckTests {

    private static final long NOW = 1_790_000_000_000_000L;

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
    void aServerWithoutAVersionIsAccepted() {
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
    void aServerThatCannotWriteNowIsCheckedLater() {
        assertThat(check("redis_version:7.0.15", "DEL: READONLY You can't write against a read only replica."))
            .isFalse();
        assertThat(check("redis_version:6.2.11", "DEL: @user_script: 12: -READONLY You can't write")).isFalse();
        assertThat(check("redis_version:7.0.15", "ZADD: MISCONF Redis is configured to save")).isFalse();
        assertThat(check("redis_version:7.0.15", "DEL: NOREPLICAS Not enough good replicas to write.")).isFalse();
    }

    /** A server may be set back, and within a script its clock may stand still. */
    @Test
    void aClockThatStartsToAdvanceIsAccepted() {
        assertThat(checkClock(NOW, NOW, NOW - 5, NOW - 5, NOW - 4)).isTrue();
        assertThatExceptionOfType(UnsuitableRedisException.class)
            .isThrownBy(() -> checkClock(NOW, NOW - 1, NOW - 1, NOW - 2, NOW - 2, NOW - 2, NOW - 3))
            .withMessageContaining("stands still")
            .withMessageContaining((NOW - 3) + " µs");
    }

    @Test
    void aServerThatGoesAwayMeanwhileIsCheckedLater() {
        AtomicInteger calls = new AtomicInteger();
        assertThat(check(() -> (calls.getAndIncrement() == 0) ? reply("", "", NOW) : new CompletableFuture<>()))
            .isFalse();
        assertThat(calls).hasValue(2);
    }

    /** Otherwise the start would fail, or the check would not be repeated. */
    @Test
    void aServerThatIsLostAfterTheFirstProbeIsCheckedLater() {
        LettuceConnectionFactory away = ConnectionFactories.started(new LettuceConnectionFactory("127.0.0.1", 1));
        try {
            RedisTemplate<String, byte[]> template = new RedisTemplate<>();
            template.setConnectionFactory(away);
            template.afterPropertiesSet();
            AtomicLong time = new AtomicLong(NOW);

            assertThat(check(Duration.ofMinutes(1), () -> reply("", "", time.incrementAndGet()), template)).isFalse();
        }
        finally {
            away.destroy();
        }
    }

    @Test
    void aServerThatIsAwayIsNotKnown() {
        assertThat(check(CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null))))
            .isFalse();
        assertThat(check(new CompletableFuture<>())).isFalse();
    }

    /** Where Redis rejects a user, Lettuce may first report only a closed connection. */
    @Test
    void aUserThatRedisRejectsIsRecognizedAtTheSecondProbe() {
        AtomicInteger calls = new AtomicInteger();
        Throwable rejected = new RedisException("WRONGPASS invalid username-password pair or user is disabled.");
        assertThatExceptionOfType(UnsuitableRedisException.class)
            .isThrownBy(() -> check(Duration.ofMinutes(1),
                    () -> CompletableFuture.failedFuture(new StoreUnavailableException("closed", Effect.NONE,
                            (calls.getAndIncrement() == 0) ? null : rejected))))
            .withMessageContaining("does not let this user in");
        assertThat(calls).hasValue(2);
    }

    private static boolean check(String server, String denied) {
        AtomicLong time = new AtomicLong(NOW);
        return check(() -> reply(server, denied, time.incrementAndGet()));
    }

    private static boolean checkClock(long... times) {
        Iterator<Long> next = Arrays.stream(times).iterator();
        return check(() -> reply("", "", next.next()));
    }

    private static CompletableFuture<List<Object>> reply(String server, String denied, long time) {
        return CompletableFuture.completedFuture(List.of(ScriptCodec.bytes(server), ScriptCodec.bytes(""),
                ScriptCodec.bytes(denied), 0L, ScriptCodec.bytes(""), time));
    }

    private static boolean check(CompletableFuture<List<Object>> reply) {
        return check(() -> reply);
    }

    private static boolean check(Supplier<CompletableFuture<List<Object>>> replies) {
        return check(Duration.ofMillis(100), replies);
    }

    private static boolean check(Duration limit, Supplier<CompletableFuture<List<Object>>> replies) {
        return check(limit, replies, new RedisTemplate<>());
    }

    private static boolean check(Duration limit, Supplier<CompletableFuture<List<Object>>> replies,
            RedisTemplate<String, byte[]> template) {
        ScriptRunner runner = new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return replies.get();
            }

            @Override
            public void close() {
                // Holds nothing.
            }

        };
        return new RedisServerCheck(new RedisScriptExecutor(runner, "dq"), template, WakeUpMode.CHANNEL).run(limit);
    }

}
