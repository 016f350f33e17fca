package io.delayqueue.integration.handling;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.redis.script.RedisScripts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: tests that one of several nodes polls first, and the delay if that node is gone.
 */
@Tag("server")
class PrimaryPollerIntegrationTests {

    private static final List<String> QUEUES = IntStream.range(0, 8).mapToObj((i) -> "q" + i).toList();

    private final RedisServer redis = RedisServer.start(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    @AfterEach
    void stop() {
        this.applications.close();
        this.redis.close();
    }

    @Test
    void tenNodesPollAboutOnceForEachMessage() {
        List<Application> nodes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            nodes.add(this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL));
        }
        awaitListeners(10);
        Application sender = this.applications.withoutHandler(this.redis);
        sendAndAwait(sender, nodes, 1);
        awaitQuiet();
        List<Long> claims = new ArrayList<>();
        this.redis.commands().configSet(Map.of("slowlog-log-slower-than", "0", "slowlog-max-len", "10000"));
        for (int sent = 2; sent <= 32; sent++) {
            this.redis.commands().slowlogReset();
            sendAndAwait(sender, nodes, sent);
            this.applications.assertNoKeysLeft(this.redis);
            claims.add(claims());
        }

        // While the machine stalls, the primary poller is late and others poll. The
        // median is above ten if all nodes poll.
        assertThat(claims.stream().sorted().skip(claims.size() / 2).findFirst().orElseThrow())
            .as("median of %s", claims)
            .isOne();
    }

    private static void sendAndAwait(Application sender, List<Application> nodes, int sent) {
        sender.queue().send("orders", new Order(sent), Duration.ofMillis(150));
        Applications.awaitTrue("message " + sent,
                () -> nodes.stream().mapToInt((node) -> node.handler().rest().size()).sum() == sent);
    }

    @Test
    void aPrimaryPollerThatIsCutOffCostsNoMessage() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(this.redis.port())) {
            this.applications.start(Applications.HandlerConfiguration.class,
                    Applications.at(proxy.port(), Applications.NO_SAFETY_POLL));
            Applications.await(() -> assertThat(primaryPollers()).hasSize(1));
            Application other = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);
            awaitListeners(2);
            Application sender = this.applications.withoutHandler(this.redis);
            awaitQuiet();
            String gone = primaryPollers().keySet().iterator().next();

            proxy.blackhole();
            sender.queue().send("orders", new Order(1), Duration.ZERO);

            assertThat(other.handler().next().number()).isOne();
            Applications.await(() -> assertThat(primaryPollers()).hasSize(1).doesNotContainKey(gone));
            proxy.pass();
        }
    }

    @Test
    void aPrimaryPollerThatStopsLeavesThePartitionToOthers() throws Exception {
        Application primary = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);
        Applications.await(() -> assertThat(primaryPollers()).hasSize(1));
        Application other = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);
        awaitListeners(2);
        awaitQuiet();

        Application sender = this.applications.withoutHandler(this.redis);

        primary.listener().pause();
        Applications.await(() -> assertThat(primaryPollers()).isEmpty());
        sender.queue().send("orders", new Order(1), Duration.ZERO);
        assertThat(other.handler().next().number()).isOne();
        Applications.await(() -> assertThat(primaryPollers()).hasSize(1));
        primary.listener().resume();
        other.close();

        assertThat(primaryPollers()).isEmpty();
        sender.queue().send("orders", new Order(2), Duration.ZERO);
        assertThat(primary.handler().next().number()).isEqualTo(2);
    }

    @Test
    void aBacklogIsDrainedByAllNodes() {
        String concurrency = "delayqueue.listener.concurrency=10";
        Application one = this.applications.withHandler(this.redis, concurrency);
        Application other = this.applications.withHandler(this.redis, concurrency);
        for (Application node : List.of(one, other)) {
            // Real time: handlers that take 4 ms, so that the backlog lasts for seconds.
            node.handler().does((order, delivery) -> TimeUnit.MILLISECONDS.sleep(4));
        }
        awaitListeners(2);
        Application sender = this.applications.withoutHandler(this.redis);
        int count = 5000;
        sender.queue()
            .sendAll(IntStream.range(0, count)
                .mapToObj((i) -> DelayedMessage.builder("orders", new Order(i)).delay(Duration.ofSeconds(1)).build())
                .toList());

        Applications.awaitTrue("all handled",
                () -> one.handler().rest().size() + other.handler().rest().size() >= count);
        assertThat(one.handler().rest()).as("share of one").hasSizeGreaterThan(count / 4);
        assertThat(other.handler().rest()).as("share of the other").hasSizeGreaterThan(count / 4);
    }

    @Test
    void nodesShareThePartitionsAndTakeThoseOfOneThatGoes() {
        String queues = "test.queues=" + String.join(",", QUEUES);
        List<Application> nodes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            nodes.add(this.applications.withHandler(this.redis, queues, "delayqueue.safety-poll=500ms"));
        }
        awaitShares(3);

        nodes.get(0).close();
        awaitShares(2);
    }

    private void awaitShares(int nodes) {
        Applications.await(() -> {
            Map<String, Long> shares = primaryPollers();
            assertThat(shares).hasSize(nodes);
            assertThat(shares.values().stream().mapToLong((share) -> share).sum()).isEqualTo(QUEUES.size());
            assertThat(Collections.max(shares.values()) - Collections.min(shares.values())).isLessThanOrEqualTo(1);
        });
    }

    /** How many partitions each node keeps, as Redis has it. */
    private Map<String, Long> primaryPollers() {
        return this.redis.commands()
            .keys(this.applications.namespace() + ":*:primary")
            .stream()
            .map((key) -> this.redis.commands().get(key))
            .filter((value) -> value != null)
            .collect(Collectors.groupingBy((value) -> value.split(" ")[0], TreeMap::new, Collectors.counting()));
    }

    private void awaitListeners(long count) {
        Applications.await(() -> {
            Map<String, Long> listeners = this.redis.commands()
                .pubsubNumsub(this.applications.namespace() + ":{orders}:wake");
            assertThat(listeners).containsValue(count);
        });
    }

    /**
     * Waits until no script has run for half a second: ten nodes report themselves every
     * six seconds, so such a pause exists.
     */
    private void awaitQuiet() {
        long[] last = { -1, System.nanoTime() };
        Applications.awaitTrue("no scripts", () -> {
            long now = scripts();
            if (now != last[0]) {
                last[0] = now;
                last[1] = System.nanoTime();
            }
            return System.nanoTime() - last[1] > Duration.ofMillis(500).toNanos();
        });
    }

    /** Returns how many claims there were since the slow log was emptied. */
    private long claims() {
        return this.redis.commands()
            .slowlogGet(10_000)
            .stream()
            .map((entry) -> (List<?>) ((List<?>) entry).get(3))
            .filter((command) -> command.size() > 1 && RedisScripts.CLAIM.sha().equals(command.get(1)))
            .count();
    }

    private long scripts() {
        return this.redis.commands()
            .info("commandstats")
            .lines()
            .filter((line) -> line.startsWith("cmdstat_evalsha:"))
            .mapToLong((line) -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+),.*", "$1")))
            .sum();
    }

}
