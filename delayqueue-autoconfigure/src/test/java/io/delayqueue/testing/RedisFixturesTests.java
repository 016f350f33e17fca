package io.delayqueue.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

@Tag("server")
class RedisFixturesTests {

    private static final String ALL = "io.delayqueue.testing.RedisBinary#all";

    private static final String STARTABLE = "io.delayqueue.testing.RedisBinary#startable";

    @ParameterizedTest
    @MethodSource(ALL)
    void aSharedServerIsTheSameForAllAndOutlivesClose(RedisBinary binary) {
        String key = "fixtures:" + UUID.randomUUID();
        try (RedisServer server = RedisServer.shared(binary)) {
            server.commands().set(key, "value", SetArgs.Builder.ex(60));
        }

        RedisServer again = RedisServer.shared(binary);

        assertThat(again.commands().getdel(key)).isEqualTo("value");
        assertThatIllegalStateException().isThrownBy(again::kill).withMessageContaining("shared");
    }

    @ParameterizedTest
    @MethodSource(STARTABLE)
    void aServerIsOfTheVersionItsBinarySays(RedisBinary binary) {
        try (RedisServer server = RedisServer.start(binary)) {
            assertThat(server.commands().info("server")).containsPattern("_version:" + binary.version());
            assertThat(server.commands().configGet("save")).containsEntry("save", "");
        }
    }

    @ParameterizedTest
    @MethodSource(STARTABLE)
    void aKilledServerComesBackOnItsPortWithItsData(RedisBinary binary) {
        try (RedisServer server = RedisServer.start(binary, "appendonly yes", "appendfsync always")) {
            server.commands().set("key", "value");
            server.kill();
            assertThat(server.isAlive()).isFalse();
            assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(() -> ping(server.uri()));

            server.restart();

            assertThat(server.commands().get("key")).isEqualTo("value");
            assertThat(ping(server.uri())).isEqualTo("PONG");
        }
    }

    @Test
    void aSuspendedServerKeepsItsClientsWaitingUntilItIsResumed() {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            server.suspend();
            RedisURI uri = server.uri();
            uri.setTimeout(Duration.ofMillis(300));
            assertThatExceptionOfType(RedisException.class).isThrownBy(() -> ping(uri));

            server.resume();

            assertThat(ping(server.uri())).isEqualTo("PONG");
        }
    }

    @Test
    void aServerThatCannotStartShowsItsLog() {
        assertThatIllegalStateException()
            .isThrownBy(() -> RedisServer.start(RedisBinary.preferred(), "no-such-setting 1"))
            .withMessageContaining("no-such-setting");
    }

    @Test
    void aServerDiesWithTheJvmThatStartedIt() throws Exception {
        RedisBinary.preferred().path();
        Process jvm = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp",
                System.getProperty("java.class.path"), Starter.class.getName())
            .redirectErrorStream(true)
            .start();
        long pid = Long.parseLong(jvm.inputReader(StandardCharsets.UTF_8).readLine());
        assertThat(ProcessHandle.of(pid)).isPresent();

        jvm.destroyForcibly().waitFor(1, TimeUnit.MINUTES);

        Poll.until(() -> "Redis outlived its JVM", () -> ProcessHandle.of(pid).isEmpty());
    }

    @ParameterizedTest
    @MethodSource(STARTABLE)
    void aClusterTakesCommandsOnEveryMaster(RedisBinary binary) {
        try (RedisCluster cluster = RedisCluster.start(binary)) {
            List<String> keys = List.of("{b}", "{c}", "{a}");

            keys.forEach((key) -> cluster.commands().set(key, "value of " + key));

            assertThat(keys).extracting(cluster.commands()::get)
                .containsExactly("value of {b}", "value of {c}", "value of {a}");
            assertThat(keys).extracting(cluster::masterOf).containsExactlyElementsOf(cluster.masters());
        }
    }

    @Test
    void aReplicaTakesOverFromADeadMasterOfACluster() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1)) {
            cluster.commands().set("key", "value");
            RedisServer master = cluster.masterOf("key");
            master.commands().waitForReplication(1, 30_000);
            master.kill();

            RedisServer successor = cluster.failover(master);

            assertThat(cluster.masterOf("key")).isSameAs(successor);
            assertThat(cluster.commands().get("key")).isEqualTo("value");
        }
    }

    @ParameterizedTest
    @MethodSource(STARTABLE)
    void aSentinelLeadsToTheMasterAndToTheNextOne(RedisBinary binary) {
        try (RedisSentinel sentinel = RedisSentinel.start(binary)) {
            RedisServer replica = sentinel.replica();
            sentinel.commands().set("key", "value");
            sentinel.commands().waitForReplication(1, 30_000);
            assertThat(sentinel.master().commands().get("key")).isEqualTo("value");

            sentinel.failover();

            assertThat(sentinel.master()).isSameAs(replica);
            assertThat(sentinel.commands().get("key")).isEqualTo("value");
            assertThat(sentinel.commands().set("key", "new")).isEqualTo("OK");
        }
    }

    @Test
    void threeSentinelsAgreeOnANewMaster() {
        try (RedisSentinel sentinel = RedisSentinel.start(RedisBinary.preferred(), 3)) {
            RedisServer replica = sentinel.replica();

            sentinel.failover();

            assertThat(sentinel.nodes()).hasSize(3);
            assertThat(sentinel.master()).isSameAs(replica);
        }
    }

    @Test
    void aProxyLosesTheReplyOfACommandThatWasExecuted() {
        RedisServer server = RedisServer.shared(RedisBinary.preferred());
        String key = "fixtures:" + UUID.randomUUID();
        try (TcpProxy proxy = TcpProxy.to(server); Client client = new Client(proxy.uri())) {
            assertThat(client.commands().incr(key)).isEqualTo(1);

            proxy.loseReplyTo(key);
            assertThatExceptionOfType(RedisException.class).isThrownBy(() -> client.commands().incr(key));

            assertThat(proxy.isLossPending()).isFalse();
            assertThat(server.commands().getdel(key)).isEqualTo("2");
        }
    }

    @Test
    void aProxyLosesARequestBeforeItIsExecuted() {
        RedisServer server = RedisServer.shared(RedisBinary.preferred());
        String key = "fixtures:" + UUID.randomUUID();
        try (TcpProxy proxy = TcpProxy.to(server); Client client = new Client(proxy.uri())) {
            assertThat(client.commands().incr(key)).isEqualTo(1);

            proxy.loseRequest(key);
            assertThatExceptionOfType(RedisException.class).isThrownBy(() -> client.commands().incr(key));

            assertThat(server.commands().getdel(key)).isEqualTo("1");
        }
    }

    @Test
    void aProxyRefusesUntilItPasses() {
        try (TcpProxy proxy = TcpProxy.to(RedisServer.shared(RedisBinary.preferred()));
                Client client = new Client(proxy.uri())) {
            assertThat(client.commands().ping()).isEqualTo("PONG");

            proxy.refuse();
            assertThat(catchThrowable(client.commands()::ping)).isInstanceOf(RedisException.class);
            assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(() -> ping(proxy.uri()));

            proxy.pass();
            assertThat(ping(proxy.uri())).isEqualTo("PONG");
        }
    }

    @Test
    void aProxyResetsOldAndNewConnectionsUntilItPasses() {
        try (TcpProxy proxy = TcpProxy.to(RedisServer.shared(RedisBinary.preferred()));
                Client client = new Client(proxy.uri())) {
            proxy.reset();
            assertThatExceptionOfType(RedisException.class).isThrownBy(client.commands()::ping);
            assertThatExceptionOfType(RedisException.class).isThrownBy(() -> ping(proxy.uri()));

            proxy.pass();
            assertThat(ping(proxy.uri())).isEqualTo("PONG");
        }
    }

    @Test
    void aProxyHoldsBackWhatArrivesOnceItPasses() {
        RedisServer server = RedisServer.shared(RedisBinary.preferred());
        String key = "fixtures:" + UUID.randomUUID();
        try (TcpProxy proxy = TcpProxy.to(server); Client client = new Client(proxy.uri())) {
            proxy.blackhole();
            client.limitCommandsTo(Duration.ofMillis(200));
            assertThatExceptionOfType(RedisCommandTimeoutException.class)
                .isThrownBy(() -> client.commands().set(key, "late"));
            assertThat(server.commands().get(key)).isNull();

            proxy.pass();

            Poll.until(() -> "nothing arrived", () -> "late".equals(server.commands().get(key)));
            server.commands().del(key);
        }
    }

    @Test
    void aProxyDelaysEachDirection() {
        try (TcpProxy proxy = TcpProxy.to(RedisServer.shared(RedisBinary.preferred()));
                Client client = new Client(proxy.uri())) {
            proxy.delay(Duration.ofMillis(50));
            long start = System.nanoTime();

            client.commands().ping();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(100));
        }
    }

    private static String ping(RedisURI uri) {
        try (Client client = new Client(uri)) {
            return client.commands().ping();
        }
    }

    /**
     * A client that does not hide failures: no reconnecting, so no repeating either.
     */
    private static final class Client implements AutoCloseable {

        private final RedisClient client;

        private final StatefulRedisConnection<String, String> connection;

        Client(RedisURI uri) {
            this.client = RedisClient.create();
            this.client.setOptions(ClientOptions.builder().autoReconnect(false).build());
            try {
                this.connection = this.client.connect(uri);
            }
            catch (RuntimeException ex) {
                close();
                throw ex;
            }
        }

        RedisCommands<String, String> commands() {
            return this.connection.sync();
        }

        void limitCommandsTo(Duration timeout) {
            this.connection.setTimeout(timeout);
        }

        @Override
        public void close() {
            this.client.shutdown(Duration.ZERO, Duration.ZERO);
        }

    }

    /**
     * The program of the JVM that is killed.
     */
    static final class Starter {

        private Starter() {
        }

        public static void main(String[] args) throws IOException {
            RedisServer server = RedisServer.start(RedisBinary.preferred());
            System.out.println(server.pid());
            System.in.read();
        }

    }

}
