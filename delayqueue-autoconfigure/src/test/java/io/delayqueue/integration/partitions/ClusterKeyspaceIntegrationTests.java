package io.delayqueue.integration.partitions;

import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Handled;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: on a cluster the notifications of keys are heard on every master, and on those that
 * become one, so a message of a producer without the library wakes its worker wherever it
 * lies. The safety poll is an hour away.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
@Tag("matrix")
class ClusterKeyspaceIntegrationTests {

    /** The first may be found by the poll after a subscription, the others not. */
    private static final int ROUNDS = 3;

    private final RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1, "notify-keyspace-events Kz");

    private final Map<String, RedisServer> queues = queuesOfEachMaster();

    private final AtomicInteger written = new AtomicInteger();

    @RegisterExtension
    final Applications applications = new Applications();

    @AfterEach
    void stop() {
        this.applications.close();
        this.cluster.close();
    }

    @Test
    void aMessageWrittenToAnyMasterIsHandledAndAfterAFailoverToo() throws Exception {
        Application worker = start();
        assertWoken(worker);
        String queue = this.queues.keySet().iterator().next();
        RedisServer dead = this.cluster.masterOf(tag(queue));

        dead.kill();
        RedisServer promoted = this.cluster.failover(dead);
        awaitPatterns(promoted, this.queues.size());

        assertThat(this.cluster.masterOf(tag(queue))).isEqualTo(promoted);
        assertWoken(worker);
    }

    @Test
    void aMasterThatBecomesAReplicaIsUnsubscribed() throws Exception {
        Application worker = start();
        assertWoken(worker);
        RedisServer demoted = this.cluster.masters().get(0);
        awaitPatterns(demoted, this.queues.size());

        RedisServer promoted = this.cluster.handOver(demoted);

        awaitPatterns(promoted, this.queues.size());
        awaitPatterns(demoted, 0);
        assertWoken(worker);
        worker.close();
        for (RedisServer server : this.cluster.masters()) {
            awaitPatterns(server, 0);
        }
    }

    @Test
    void nodesThatDoNotNotifyAreNamed(CapturedOutput output) {
        RedisServer silent = this.cluster.masters().get(1);
        silent.commands().configSet("notify-keyspace-events", "Kx");

        start();

        assertThat(LogCount.of(output, "ERROR", "but Redis at %s:%d has notify-keyspace-events 'xK', and it needs 'Kz'"
            .formatted(silent.host(), silent.port()))).isEqualTo(1);
        assertThat(LogCount.of(output, "WARN", "on a cluster")).isZero();
    }

    private Application start() {
        return this.applications.start(Applications.HandlerConfiguration.class,
                "spring.data.redis.cluster.nodes=" + String.join(",", this.cluster.nodes()),
                "delayqueue.wakeup=keyspace", Applications.NO_SAFETY_POLL,
                "test.queues=" + String.join(",", this.queues.keySet()));
    }

    /** Three names, each of another master. */
    private Map<String, RedisServer> queuesOfEachMaster() {
        Map<String, RedisServer> found = new TreeMap<>();
        for (int i = 0; found.size() < this.cluster.masters().size(); i++) {
            RedisServer master = this.cluster.masterOf(tag("q" + i));
            if (!found.containsValue(master)) {
                found.put("q" + i, master);
            }
        }
        return found;
    }

    private void assertWoken(Application worker) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            for (String queue : this.queues.keySet()) {
                assertWoken(worker, queue);
            }
        }
    }

    private void assertWoken(Application worker, String queue) throws InterruptedException {
        int number = this.written.incrementAndGet();
        RedisServer master = this.cluster.masterOf(tag(queue));
        Instant due = Instant.ofEpochMilli(Applications.timeOf(master.commands()).toEpochMilli() + 100);
        master.commands()
            .hset(key(queue, "messages"), "raw",
                    "-foreign{\"v\":1,\"headers\":{},\"payload\":{\"number\":%d}}".formatted(number));
        master.commands().zadd(key(queue, "scheduled"), due.toEpochMilli(), "raw");
        Handled handled = worker.handler().next().assertNotBefore(due);
        assertThat(handled.number()).isEqualTo(number);
        assertThat(handled.delivery().queue()).hasToString(queue);
        // Acknowledged, and so claimed again: nothing but a wake-up finds the next.
        Applications.await(() -> assertThat(master.commands().exists(key(queue, "messages"))).isZero());
    }

    private static void awaitPatterns(RedisServer server, long patterns) {
        Applications.await(() -> assertThat(server.commands().pubsubNumpat()).isEqualTo(patterns));
    }

    private String key(String queue, String kind) {
        return this.applications.namespace() + ":" + tag(queue) + ":" + kind;
    }

    private static String tag(String queue) {
        return "{" + queue + "}";
    }

}
