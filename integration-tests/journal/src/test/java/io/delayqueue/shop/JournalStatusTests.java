package io.delayqueue.shop;

import java.time.Duration;

import io.delayqueue.actuator.JournalHealthIndicator;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalStatus;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests what an operator sees of a ledger: its counts, and its problems. */
@Tag("server")
class JournalStatusTests {

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private JournalStatus status;

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
        this.context = SpringApplication.run(Shop.class, "--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + database.url(), "--delayqueue.journal.mode=ledger",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--delayqueue.command-timeout=10s",
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none");
        this.status = this.context.getBean(JournalFactory.class).status();
    }

    @Test
    void countsAreThoseOfTheRequestsAndTheirEnds() {
        start(ShopDatabase.H2);

        this.context.getBean(DelayQueueTemplate.class).send(ORDERS, "1");

        await().untilAsserted(() -> assertThat(this.status.applied()).isOne());
        await().untilAsserted(() -> assertThat(this.status.ended()).isOne());
        assertThat(this.status.restored()).isZero();
        assertThat(health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void anOutageIsReportedUntilItIsOver() {
        start(ShopDatabase.H2);
        DelayQueueTemplate queue = this.context.getBean(DelayQueueTemplate.class);
        redis.kill();

        queue.send(ORDERS, "1");

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

        this.context.getBean(DelayQueueTemplate.class).send(ORDERS, "1", "later", Duration.ofHours(1));

        await().untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.DOWN));
        assertThat(health().getDetails().get("problems").toString())
            .contains("[orders] belong to the journal of another");
        assertThat(redis.commands().get("dq:{" + ORDERS + "}:journal")).isEqualTo("another 7 1");
    }

    private Health health() {
        return this.context.getBean(JournalHealthIndicator.class).health();
    }

}
