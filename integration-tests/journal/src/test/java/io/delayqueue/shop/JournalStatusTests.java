package io.delayqueue.shop;

import java.lang.ref.Reference;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;

import io.delayqueue.CancelResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.actuator.JournalHealthIndicator;
import io.delayqueue.actuator.JournalMeters;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreRefusedException;
import io.delayqueue.template.DelayQueueTemplate;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Tests what an operator sees of a ledger: its counts, and its problems. */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class JournalStatusTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final String REQUESTS_WAIT = "Requests of the journal wait";

    private static final String NOT_COMPARED = "cannot be compared with Redis now";

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private JournalStatus status;

    private DelayQueueTemplate queue;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void stop() {
        if (!redis.isAlive()) {
            redis.restart();
        }
        this.context.close();
        redis.commands().flushall();
    }

    private void start(ShopDatabase database) {
        start(database.url(), "10s");
    }

    private void start(String url, String commandTimeout) {
        this.context = SpringApplication.run(Shop.class, "--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + url, "--spring.datasource.hikari.connection-timeout=500",
                "--spring.datasource.hikari.validation-timeout=250", "--delayqueue.journal.mode=ledger",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--delayqueue.command-timeout=" + commandTimeout,
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none");
        this.status = this.context.getBean(JournalFactory.class).status();
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        await().untilAsserted(() -> assertThat(redis.commands().exists("dq:{" + ORDERS + "}:journal")).isOne());
    }

    @Test
    void countsAreThoseOfTheRequestsAndTheirEnds() {
        start(ShopDatabase.H2);
        MeterRegistry registry = new SimpleMeterRegistry();
        JournalMeters meters = new JournalMeters(registry, this.status);

        this.queue.send(ORDERS, "1");

        await().untilAsserted(() -> assertThat(values(registry)).containsExactlyInAnyOrderEntriesOf(
                Map.of("applied", 1, "ended", 1, "restored", 0, "swept", 0, "backlog", 1, "delay", 0)));
        assertThat(health().getStatus()).isEqualTo(Status.UP);
        Reference.reachabilityFence(meters);
    }

    private static Map<String, Integer> values(MeterRegistry registry) {
        return registry.getMeters()
            .stream()
            .collect(Collectors.toMap((meter) -> meter.getId().getName().replace("delayqueue.journal.", ""),
                    (meter) -> (int) Math.ceil(meter.measure().iterator().next().getValue())));
    }

    /** The delay is that of the oldest request of all nodes, not that of this node. */
    @EachDatabase
    @Tag("matrix")
    void theDelayIsThatOfTheOldestRequest(ShopDatabase database) {
        start(database);
        redis.kill();
        this.queue.send(ORDERS, "1");
        this.queue.send(ORDERS, "2");

        assertThat(jdbc().sql("UPDATE delayqueue_journal SET recorded_at = recorded_at - 3600000 WHERE revision = 2")
            .update()).isOne();

        await().untilAsserted(() -> assertThat(this.status.delay()).isBetween(LATER, LATER.plusMinutes(2)));
        redis.restart();
        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(this.status.delay()).isZero());
    }

    /** Messages that end meanwhile are counted, since their number is limited. */
    @Test
    void theBacklogIsKnownWhileTheDatabaseIsAway() {
        String url = ShopDatabase.POSTGRESQL.url();
        int port = URI.create(url.substring("jdbc:".length())).getPort();
        try (TcpProxy proxy = TcpProxy.to(port)) {
            start(url.replace(":" + port, ":" + proxy.port()), "10s");
            this.queue.pause(ORDERS);
            for (int i = 0; i < 20; i++) {
                this.queue.send(ORDERS, "order-" + i, "order", Duration.ZERO);
            }
            proxy.refuse();
            assertThat(this.status.backlog()).isLessThan(20);
            this.queue.resume(ORDERS);

            await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(this.status.backlog()).isGreaterThanOrEqualTo(20));
            proxy.pass();
        }
    }

    /** A node that sends nothing reports that its database was away, until it is back. */
    @Test
    @Tag("matrix")
    void anOutageOfTheDatabaseIsOverOnAnIdleNode(CapturedOutput output) {
        String url = ShopDatabase.POSTGRESQL.url();
        int port = URI.create(url.substring("jdbc:".length())).getPort();
        try (TcpProxy proxy = TcpProxy.to(port)) {
            start(url.replace(":" + port, ":" + proxy.port()), "10s");

            proxy.refuse();
            await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                assertThat(health().getStatus()).isEqualTo(Status.DOWN);
                assertThat(health().getDetails().get("problems").toString()).contains("have not been applied to Redis")
                    .contains("have not been compared with Redis");
            });
            assertThat(this.status.delay()).isPositive();

            proxy.pass();
            await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.UP));
            assertThat(this.status.delay()).isZero();
            assertThat(lines(output, REQUESTS_WAIT)).isOne();
            assertThat(lines(output, NOT_COMPARED)).isOne();
        }
    }

    /** Requests that Redis applies do not conceal those that it refuses. */
    @EachDatabase
    @Tag("matrix")
    void sendsThatAFullRedisRefusesAreReportedWhileCancelsAreApplied(ShopDatabase database, CapturedOutput output) {
        start(database);
        this.queue.send(ORDERS, "held", "1", Duration.ofHours(1));
        redis.commands().configSet("maxmemory", "1");
        try {
            assertThat(this.queue.send(ORDERS, "1").outcome()).isEqualTo(SendOutcome.RECORDED);
            await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                assertThat(this.queue.cancel(ORDERS, "another")).isEqualTo(CancelResult.NOT_FOUND);
                assertThat(health().getStatus()).isEqualTo(Status.DOWN);
                assertThat(health().getDetails().get("problems").toString()).contains("have not been applied to Redis");
            });
            assertThat(this.queue.cancel(ORDERS, "held")).isEqualTo(CancelResult.CANCELLED);
        }
        finally {
            redis.commands().configSet("maxmemory", "0");
        }
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.UP));
        assertThat(this.status.delay()).isZero();
        assertThat(lines(output, REQUESTS_WAIT)).isOne();
        assertThat(lines(output, "Requests of the journal are applied again")).isOne();
    }

    private static long lines(CapturedOutput output, String text) {
        return output.getAll().lines().filter((line) -> line.contains(text)).count();
    }

    @Test
    void anOutageIsReportedUntilItIsOver() {
        // The claim of the row, which must run out, lasts four times as long.
        start(ShopDatabase.H2.url(), "2500ms");
        redis.kill();

        this.queue.send(ORDERS, "1");

        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
            assertThat(health().getStatus()).isEqualTo(Status.DOWN);
            assertThat(health().getDetails().get("problems").toString()).contains("have not been applied to Redis");
        });
        assertThat(this.status.delay()).isPositive();
        redis.restart();
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.UP));
        assertThat(this.status.delay()).isZero();
    }

    /** A queue is left alone if it belongs to the journal of another database. */
    @Test
    void aQueueOfAnotherJournalIsReported() {
        redis.commands().set("dq:{" + ORDERS + "}:journal", "another 7 1");
        start(ShopDatabase.H2);

        await().untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.DOWN));
        assertThatExceptionOfType(StoreRefusedException.class)
            .isThrownBy(() -> this.queue.send(ORDERS, "1", "later", LATER));
        assertThat(health().getDetails().get("problems").toString())
            .contains("[orders] belong to the journal of another");
        // This database has no row of the queue, which must not look like a complete
        // restore.
        assertThatExceptionOfType(RestoreRefusedException.class)
            .isThrownBy(() -> this.context.getBean(JournalOperations.class)
                .restore(RestorePlan.all().queue(ORDERS).asDryRun(), null))
            .withMessageContaining("belongs to the journal of another database");
        assertThat(redis.commands().get("dq:{" + ORDERS + "}:journal")).isEqualTo("another 7 1");
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    private Health health() {
        return this.context.getBean(JournalHealthIndicator.class).health();
    }

}
