package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.engine.ServerFault;
import io.delayqueue.engine.ServerFault.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** What is made of the probe's answer; a real server is looked at by the dashboard's. */
class RedisServerWatchTests {

    @Test
    void findsNothingWrongWithAServerThatIsWellOrTellsNothing() {
        assertThat(look(memory(50, 100, "noeviction"), "", 0)).isEmpty();
        assertThat(look(memory(50, 100, "volatile-lru"), "", 0)).isEmpty();
        assertThat(look("", "", 0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({ "50, 100, allkeys-lfu, EVICTS", "99, 100, allkeys-lfu, EVICTS", "90, 100, noeviction, NEARLY_FULL",
            "95, 100, volatile-ttl, NEARLY_FULL" })
    void saysWhatItsMemoryWillDo(long used, long most, String policy, Kind kind) {
        assertThat(look(memory(used, most, policy), "", 0)).extracting(ServerFault::kind).containsExactly(kind);
    }

    @ParameterizedTest
    @CsvSource({ "99, 0, allkeys-lru", "99, 0, noeviction", "89, 100, noeviction" })
    void saysNothingOfMemoryThatHasNoEnd(long used, long most, String policy) {
        assertThat(look(memory(used, most, policy), "", 0)).isEmpty();
    }

    @Test
    void tellsWhatIsRefusedNowFromWhatIsForbidden() {
        String refused = "DEL: READONLY You can't write against a read only replica.";
        assertThat(look("", refused, 0)).containsExactly(new ServerFault(Kind.REFUSES, "", refused));
        String denied = "ZREM: NOPERM this user has no permissions to run 'zrem'";
        assertThat(look("", denied, 0)).containsExactly(new ServerFault(Kind.FORBIDS, "", denied));
    }

    @ParameterizedTest
    @EnumSource
    void mindsWakeUpsOnlyWhereTheyArePublished(WakeUpMode mode) {
        assertThat(look("", "", 1, mode)).extracting(ServerFault::kind)
            .isEqualTo((mode == WakeUpMode.CHANNEL) ? List.of(Kind.MUTE) : List.of());
    }

    private static String memory(long used, long most, String policy) {
        return "# Memory\r\nused_memory:%d\r\nused_memory_peak:999\r\nmaxmemory:%d\r\nmaxmemory_human:0B\r\nmaxmemory_policy:%s\r\n"
            .formatted(used, most, policy);
    }

    private static List<ServerFault> look(String memory, String denied, long refused) {
        return look(memory, denied, refused, WakeUpMode.CHANNEL);
    }

    private static List<ServerFault> look(String memory, String denied, long refused, WakeUpMode mode) {
        ScriptRunner runner = new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return CompletableFuture
                    .completedFuture(List.of(Replies.bytes(""), Replies.bytes(memory), Replies.bytes(denied), refused));
            }

            @Override
            public void close() {
                // Holds nothing.
            }

        };
        return new RedisServerWatch(new RedisAccess(runner, "dq"), new RedisTemplate<>(), mode).look().join();
    }

}
