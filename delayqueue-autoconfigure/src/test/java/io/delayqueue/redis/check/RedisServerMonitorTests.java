package io.delayqueue.redis.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.store.ServerIssue.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisClusterNode.SlotRange;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode.NodeType;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** The reply to the probe becomes issues; tests of the dashboard cover a real server. */
class RedisServerMonitorTests {

    @Test
    void theAddressOfAStaticListOfNodesIsThatOfTheFirst() {
        RedisStaticMasterReplicaConfiguration nodes = new RedisStaticMasterReplicaConfiguration("redis-1", 7001);
        nodes.addNode("redis-0", 7000);
        assertThat(RedisAddress.of(new LettuceConnectionFactory(nodes))).isEqualTo("redis-1:7001");
    }

    @Test
    void aHealthyServerHasNoIssues() {
        assertThat(check(memory(50, 100, "noeviction"), "", 0)).isEmpty();
        assertThat(check(memory(50, 100, "volatile-lru"), "", 0)).isEmpty();
        assertThat(check("", "", 0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({ "50, 100, allkeys-lfu, EVICTS", "99, 100, allkeys-lfu, EVICTS", "90, 100, noeviction, NEARLY_FULL",
            "95, 100, volatile-ttl, NEARLY_FULL" })
    void aServerThatEvictsOrIsNearlyFullIsReported(long used, long most, String policy, Kind kind) {
        assertThat(check(memory(used, most, policy), "", 0)).extracting(ServerIssue::kind).containsExactly(kind);
    }

    @ParameterizedTest
    @CsvSource({ "99, 0, allkeys-lru", "99, 0, noeviction", "89, 100, noeviction" })
    void aServerWithoutAMemoryLimitOrWithRoomIsNotReported(long used, long most, String policy) {
        assertThat(check(memory(used, most, policy), "", 0)).isEmpty();
    }

    @Test
    void temporaryRejectionsAreToldFromMissingPermissions() {
        String refused = "DEL: READONLY You can't write against a read only replica.";
        assertThat(check("", refused, 0)).containsExactly(new ServerIssue(Kind.REFUSES, "", refused));
        String denied = "ZREM: NOPERM this user has no permissions to run 'zrem'";
        assertThat(check("", denied, 0)).containsExactly(new ServerIssue(Kind.FORBIDS, "", denied));
    }

    @ParameterizedTest
    @EnumSource
    void aMissingPublishPermissionIsReportedInChannelModeOnly(WakeUpMode mode) {
        assertThat(check("", "", 1, mode)).extracting(ServerIssue::kind)
            .isEqualTo((mode == WakeUpMode.CHANNEL) ? List.of(Kind.PUBLISH_DENIED) : List.of());
    }

    @Test
    void aMasterThatDoesNotAnswerHidesNoIssueOfOthers() {
        Map<String, CompletableFuture<List<Object>>> replies = Map.of("a:1",
                CompletableFuture
                    .failedFuture(RedisExceptionTranslator.notConnected(new IOException("Connection refused"))),
                "b:2", reply(memory(50, 100, "allkeys-lru"), "", 0), "c:3",
                CompletableFuture.failedFuture(
                        new StoreRefusedException("Refused", Effect.NONE, new IOException("NOPERM no EVALSHA"))),
                "d:4", CompletableFuture.failedFuture(new StoreUnavailableException("Not now", Effect.NONE,
                        new IOException("READONLY You can't write against a read only replica."))));
        assertThat(monitor(replies).check().join()).containsExactly(
                new ServerIssue(Kind.SILENT, "a:1", "No connection to Redis: Connection refused; nothing was changed"),
                new ServerIssue(Kind.EVICTS, "b:2", "allkeys-lru"),
                new ServerIssue(Kind.FORBIDS, "c:3", "NOPERM no EVALSHA"),
                new ServerIssue(Kind.REFUSES, "d:4", "READONLY You can't write against a read only replica."));
    }

    @Test
    void checksRunOneAtATimeOnTheirOwnThread() throws Exception {
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        CompletableFuture<List<Object>> answer = new CompletableFuture<List<Object>>().orTimeout(30, TimeUnit.SECONDS);
        RedisServerMonitor monitor = monitor((keys) -> {
            threads.add(Thread.currentThread());
            return CompletableFuture.completedFuture(answer.join());
        }, new RedisTemplate<>(), WakeUpMode.CHANNEL);

        CompletableFuture<List<ServerIssue>> first = monitor.check();
        assertThat(threads.poll(30, TimeUnit.SECONDS)).isNotNull()
            .satisfies((thread) -> assertThat(thread.getName()).isEqualTo("delayqueue-server-watch"));
        assertThat(monitor.check()).isSameAs(first).isNotDone();
        answer.complete(reply("", "", 1).join());
        assertThat(first.join()).extracting(ServerIssue::kind).containsExactly(Kind.PUBLISH_DENIED);
        assertThat(threads).isEmpty();
        assertThat(monitor.check()).isNotSameAs(first);
    }

    private static String memory(long used, long most, String policy) {
        return "# Memory\r\nused_memory:%d\r\nused_memory_peak:999\r\nmaxmemory:%d\r\nmaxmemory_human:0B\r\nmaxmemory_policy:%s\r\n"
            .formatted(used, most, policy);
    }

    private static List<ServerIssue> check(String memory, String denied, long refused) {
        return check(memory, denied, refused, WakeUpMode.CHANNEL);
    }

    private static List<ServerIssue> check(String memory, String denied, long refused, WakeUpMode mode) {
        return monitor((keys) -> reply(memory, denied, refused), new RedisTemplate<>(), mode).check().join();
    }

    private static CompletableFuture<List<Object>> reply(String memory, String denied, long refused) {
        return CompletableFuture.completedFuture(List.of(ScriptCodec.bytes(""), ScriptCodec.bytes(memory),
                ScriptCodec.bytes(denied), refused, ScriptCodec.bytes(""), 0L));
    }

    /**
     * Monitors a cluster whose masters share the slots in the order of their addresses.
     */
    private static RedisServerMonitor monitor(Map<String, CompletableFuture<List<Object>>> masters) {
        List<String> addresses = masters.keySet().stream().sorted().toList();
        List<RedisClusterNode> nodes = new ArrayList<>();
        for (int i = 0; i < addresses.size(); i++) {
            String[] address = addresses.get(i).split(":");
            int slots = ClusterSlotHashUtil.SLOT_COUNT / addresses.size();
            nodes.add(RedisClusterNode.newRedisClusterNode()
                .listeningAt(address[0], Integer.parseInt(address[1]))
                .serving(new SlotRange(i * slots, (i + 1) * slots - 1))
                .promotedAs(NodeType.MASTER)
                .build());
        }
        RedisClusterConnection connection = mock();
        given(connection.clusterGetNodes()).willReturn(nodes);
        RedisConnectionFactory factory = mock();
        given(factory.getConnection()).willReturn(connection);
        RedisTemplate<String, byte[]> template = new RedisTemplate<>();
        template.setConnectionFactory(factory);
        template.afterPropertiesSet();
        return monitor((keys) -> {
            int slot = ClusterSlotHashUtil.calculateSlot(keys[0]);
            return masters
                .get(nodes.stream().filter((node) -> node.servesSlot(slot)).findFirst().orElseThrow().asString());
        }, template, WakeUpMode.CHANNEL);
    }

    private static RedisServerMonitor monitor(Function<byte[][], CompletableFuture<List<Object>>> replies,
            RedisTemplate<String, byte[]> template, WakeUpMode mode) {
        ScriptRunner runner = new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                return replies.apply(keys);
            }

            @Override
            public void close() {
                // Holds nothing.
            }

        };
        return new RedisServerMonitor(new RedisScriptExecutor(runner, "dq"), template, mode);
    }

}
