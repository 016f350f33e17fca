package io.delayqueue.shop;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.journal.JournalStatus.Problem;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests a ledger while a server of Redis does not answer: what is logged, and that the
 * queues of other servers do not wait for it.
 */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class SilentServerTests {

    /** Soon enough that a restore begins with it. */
    private static final Duration LATER = Duration.ofMinutes(4);

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** More than the entries that one call returns. */
    private static final int ENTRIES = 20_000;

    private static final int ENTRIES_OF_A_CALL = 1000;

    /** If a batch waited for each of them, its other requests would be too late. */
    private static final int DELAYED = 150;

    private ConfigurableApplicationContext context;

    private JournalStatus status;

    @AfterEach
    void stop() {
        if (this.context != null) {
            this.context.close();
        }
    }

    private void start(String redis, String commandTimeout) {
        this.context = SpringApplication.run(new Class<?>[] { Shop.class, StatementGate.class },
                new String[] { redis, "--spring.datasource.url=" + ShopDatabase.H2.url(),
                        "--delayqueue.journal.mode=ledger", "--delayqueue.journal.jdbc.initialize-schema=always",
                        "--delayqueue.command-timeout=" + commandTimeout, "--spring.data.redis.timeout=5m",
                        "--spring.main.banner-mode=off", "--spring.main.web-application-type=none",
                        "--delayqueue.journal.restore-pause=10m" });
        this.status = this.context.getBean(JournalFactory.class).status();
    }

    /** Stores a message, and waits until the first restore of its queue has ended. */
    private void send(String queue, RedisServer server) {
        this.context.getBean(DelayQueueTemplate.class).send(queue, "1", "waits", LATER);
        await().atMost(PATIENCE).until(() -> ShopApplication.calls(server, queue) > 1);
        await().atMost(PATIENCE)
            .until(() -> server.commands().zcount("dq:{" + queue + "}:changes", LedgerFaultTests.UNRECORDED) == 0);
    }

    /** An outage is logged by its begin and its end, however long it lasts. */
    @Test
    @Tag("matrix")
    void anOutageIsLoggedTwice(CapturedOutput output) {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            start("--spring.data.redis.port=" + redis.port(), "1s");
            send("parcels", redis);
            redis.suspend();

            Set<Long> failures = new HashSet<>();
            await().atMost(PATIENCE).until(() -> {
                Problem problem = this.status.reconcilerProblem();
                if (problem != null) {
                    failures.add(problem.lastAt());
                }
                return failures.size() > 4;
            });
            assertThat(lines(output)).singleElement()
                .asString()
                .contains("WARN")
                .containsAnyOf("queue 'parcels'", "queue 'orders'");
            redis.resume();

            await().atMost(PATIENCE).until(() -> output.getAll().contains("are compared with Redis again"));
            await().atMost(PATIENCE).until(() -> this.status.reconcilerProblem() == null);
            assertThat(lines(output)).hasSize(1);
            this.context.close();
        }
    }

    private static Stream<String> lines(CapturedOutput output) {
        return output.getAll().lines().filter((line) -> line.contains("compared with Redis now"));
    }

    /**
     * Between two failures of the server that does not answer, which takes a command
     * timeout, the reconciler makes as many steps for another queue as it has work: more
     * than two a second.
     */
    @Test
    @Tag("matrix")
    void aServerThatDoesNotAnswerDelaysNoQueueOfAnother() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 0, "cluster-node-timeout 60000",
                "cluster-require-full-coverage no")) {
            start("--spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes()), "10s");
            RedisServer answering = cluster.masters().get(1);
            String busy = queueOf(cluster, answering);
            send(busy, answering);
            String delayed = queueOf(cluster, cluster.masters().get(0));
            send(delayed, cluster.masters().get(0));
            cluster.masters().get(0).suspend();
            this.context.getBean(JdbcClient.class)
                .sql("UPDATE delayqueue_journal SET due_millis = 1, claimed_until = 1 WHERE queue_name = ?")
                .param(delayed)
                .update(); // the sweep offers it

            Window window = new Window();
            await().atMost(PATIENCE).until(() -> {
                addEntries(answering, busy);
                return window.add(this.status.reconcilerProblem(), ShopApplication.calls(answering, busy)) >= 30;
            });
            cluster.masters().get(0).resume();
            await().atMost(PATIENCE).until(() -> this.status.reconcilerProblem() == null);
            this.context.close();
        }
    }

    /**
     * A queue is restored and resumed although a server stops answering for another queue
     * that is restored with it. The command timeout is longer than the test waits.
     */
    @Test
    void aServerThatDoesNotAnswerDelaysNoRestoreOfAnother() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 0, "cluster-node-timeout 60000",
                "cluster-require-full-coverage no")) {
            start("--spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes()), "5m");
            RedisServer silent = cluster.masters().get(0);
            RedisServer answering = cluster.masters().get(1);
            String delayed = queueOf(cluster, silent);
            send(delayed, silent);
            String restored = queueOf(cluster, answering);
            send(restored, answering);
            StatementGate gate = this.context.getBean(StatementGate.class);
            gate.close("THEN due_millis END");
            silent.commands().flushall();
            answering.commands().flushall();
            await().atMost(PATIENCE).until(gate::isReached);
            silent.suspend();
            gate.open();

            await().atMost(PATIENCE).untilAsserted(() -> assertThat(isRestored(answering, restored)).isTrue());
            silent.resume();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(isRestored(silent, delayed)).isTrue());
            this.context.close();
        }
    }

    /**
     * Requests on queues of a server that has not answered since the node started wait
     * for it, and those on a queue of another server do not.
     */
    @Test
    void aServerThatDoesNotAnswerDelaysNoRequestOfAnother() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 0, "cluster-node-timeout 60000",
                "cluster-require-full-coverage no")) {
            start("--spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes()), "1s");
            RedisServer silent = cluster.masters().get(0);
            RedisServer answering = cluster.masters().get(1);
            List<String> delayed = queuesOf(cluster, silent).limit(DELAYED).toList();
            String other = queueOf(cluster, answering);
            silent.suspend();
            DelayQueueTemplate queue = this.context.getBean(DelayQueueTemplate.class);
            new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class))
                .executeWithoutResult((status) -> {
                    delayed.forEach((name) -> queue.send(name, "1", "waits", LATER));
                    queue.send(other, "1", "waits", LATER);
                });

            await().atMost(PATIENCE).until(() -> answering.commands().hlen("dq:{" + other + "}:messages") == 1);
            silent.resume();
            await().atMost(PATIENCE)
                .until(() -> delayed.stream()
                    .allMatch((name) -> silent.commands().hlen("dq:{" + name + "}:messages") == 1));
            this.context.close();
        }
    }

    /** Returns whether the message of a queue is back, and the queue is not paused. */
    private static boolean isRestored(RedisServer server, String queue) {
        String layout = server.commands().get("dq:{" + queue + "}:partitions");
        return layout != null && layout.matches("\\d+\\|1j")
                && server.commands().hlen("dq:{" + queue + "}:revisions") == 1;
    }

    private static String queueOf(RedisCluster cluster, RedisServer server) {
        return queuesOf(cluster, server).findFirst().orElseThrow();
    }

    private static Stream<String> queuesOf(RedisCluster cluster, RedisServer server) {
        return IntStream.range(0, 1000)
            .mapToObj((i) -> "queue" + i)
            .filter((name) -> cluster.masterOf("dq:{" + name + "}:journal").port() == server.port());
    }

    /** Adds ends that the reconciler is to record, unless there are enough. */
    static void addEntries(RedisServer server, String queue) {
        String changes = "dq:{" + queue + "}:changes";
        if (server.commands().zcount(changes, LedgerFaultTests.UNRECORDED) > ENTRIES / 2) {
            return;
        }
        long first = 1_000_000_000L + server.commands().zcard(changes);
        for (int i = 0; i < ENTRIES; i += ENTRIES_OF_A_CALL) {
            Object[] scoresAndEntries = new Object[2 * ENTRIES_OF_A_CALL];
            for (int j = 0; j < ENTRIES_OF_A_CALL; j++) {
                scoresAndEntries[2 * j] = 1.0;
                scoresAndEntries[2 * j + 1] = (first + i + j) + " ended";
            }
            server.commands().zadd(changes, scoresAndEntries);
        }
    }

    /** Adds messages of ledgers as far as the scan of a restore reads them. */
    static void addRevisions(RedisServer server, String queue) {
        for (int i = 0; i < ENTRIES; i += ENTRIES_OF_A_CALL) {
            Map<String, String> revisions = new LinkedHashMap<>();
            IntStream.range(i, i + ENTRIES_OF_A_CALL)
                .forEach((j) -> revisions.put("held" + j, String.valueOf(2_000_000_000L + j)));
            server.commands().hset("dq:{" + queue + "}:revisions", revisions);
        }
    }

    /** Counts the calls of one queue between two failures of another. */
    private static final class Window {

        private long lastAt;

        private long callsAtFailure = -1;

        /** Returns the calls since the last failure; 0 before the first one. */
        long add(Problem problem, long calls) {
            if (problem != null && problem.lastAt() != this.lastAt) {
                this.lastAt = problem.lastAt();
                this.callsAtFailure = calls;
            }
            return (this.callsAtFailure != -1) ? calls - this.callsAtFailure : 0;
        }

    }

}
