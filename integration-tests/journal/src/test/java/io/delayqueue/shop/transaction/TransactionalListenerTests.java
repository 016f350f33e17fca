package io.delayqueue.shop.transaction;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.RedriveResult;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests listeners whose transaction records that their message was handled: the handler's
 * writes take effect once for each message, whatever becomes of Redis.
 */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class TransactionalListenerTests {

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private Payments payments;

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
        if (this.context != null) {
            this.context.close();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database) {
        this.context = run(Bank.class, database.url(), "ledger");
        this.payments = this.context.getBean(Payments.class);
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        jdbc().sql("CREATE TABLE payment (id VARCHAR(50) NOT NULL)").update();
    }

    private static ConfigurableApplicationContext run(Class<?> application, String url, String mode,
            String... settings) {
        String[] arguments = { "--spring.data.redis.port=" + redis.port(), "--spring.datasource.url=" + url,
                "--delayqueue.journal.mode=" + mode, "--delayqueue.journal.jdbc.initialize-schema=always",
                "--delayqueue.command-timeout=2s", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none" };
        return SpringApplication.run(application,
                Stream.of(arguments, settings).flatMap(Stream::of).toArray(String[]::new));
    }

    @EachDatabase
    void theEffectCommitsWithTheEndOfTheMessage(ShopDatabase database) {
        start(database);

        this.queue.send("payments", "1", "pay", Duration.ZERO);

        await().untilAsserted(() -> assertThat(count("payment")).isOne());
        await().untilAsserted(() -> assertThat(count("delayqueue_journal") + count("delayqueue_handled")).isZero());
        assertThat(this.payments.calls.get("1")).hasValue(1);
    }

    /** The effects of a failed attempt roll back, and a later one has them. */
    @EachDatabase
    void aFailedAttemptHasNoEffect(ShopDatabase database) {
        start(database);

        this.queue.send("payments", "fails-once", "pay", Duration.ZERO);
        this.queue.send("payments", "retries-once", "pay", Duration.ZERO);

        await().untilAsserted(() -> assertThat(count("delayqueue_journal") + count("delayqueue_handled")).isZero());
        assertThat(this.payments.calls.get("fails-once")).hasValue(2);
        assertThat(this.payments.calls.get("retries-once")).hasValue(2);
        assertThat(count("payment")).isEqualTo(2);
    }

    /** Not one message becomes a dead letter because the database is away. */
    @Test
    void noAttemptCountsWhileNoTransactionCanBeBegun(CapturedOutput output) {
        String url = ShopDatabase.POSTGRESQL.url();
        URI address = URI.create(url.substring("jdbc:".length()));
        try (TcpProxy proxy = TcpProxy.to(address.getPort())) {
            this.context = run(Bank.class, url.replace(":" + address.getPort(), ":" + proxy.port()), "ledger",
                    "--spring.datasource.hikari.connection-timeout=500",
                    "--spring.datasource.hikari.validation-timeout=250", "--delayqueue.listener.max-attempts=1");
            this.payments = this.context.getBean(Payments.class);
            this.queue = this.context.getBean(DelayQueueTemplate.class);
            jdbc().sql("CREATE TABLE payment (id VARCHAR(50) NOT NULL)").update();
            this.queue.pause("payments");
            IntStream.range(0, 20).forEach((i) -> this.queue.send("payments", "p" + i, "pay", Duration.ZERO));
            proxy.refuse();
            this.queue.resume("payments");

            await().untilAsserted(() -> assertThat(output).contains("Payments.pay")
                .contains("cannot be handled in a transaction; they wait, no attempt counts"));
            proxy.pass();

            // The pool may still have a connection of the time before.
            await().atMost(Duration.ofMinutes(1))
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(count("payment")).isEqualTo(20));
            assertThat(this.payments.calls.values()).extracting(AtomicInteger::get).containsOnly(1);
            assertThat(this.queue.deadLetters("payments").list(null, 10).deadLetters()).isEmpty();
        }
    }

    /**
     * A message that Redis loses while its handler runs is restored and acknowledged, and
     * not handled again.
     */
    @EachDatabase
    void aRestoredMessageHasNoSecondEffect(ShopDatabase database) {
        start(database);
        this.queue.send("payments", "1", "pay", Duration.ofHours(1));
        await().untilAsserted(() -> assertThat(redis.commands().exists("dq:{payments}:journal")).isOne());

        this.queue.send("payments", "loses-redis", "pay", Duration.ZERO);

        await().untilAsserted(() -> assertThat(count("payment")).isOne());
        await().untilAsserted(() -> assertThat(this.queue.find("payments", "1")).isPresent());
        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isOne());
        assertThat(this.payments.calls.get("loses-redis")).hasValue(1);
        assertThat(count("delayqueue_handled")).isZero();
    }

    /** A redriven message has a row again: it is restored, and has one effect. */
    @EachDatabase
    void aRedrivenMessageHasARow(ShopDatabase database) {
        start(database);
        this.queue.send("payments", "dies-once", "pay", Duration.ZERO);
        await().untilAsserted(
                () -> assertThat(this.queue.deadLetters("payments").list(null, 10).deadLetters()).hasSize(1));
        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isZero());
        String deadLetter = this.queue.deadLetters("payments").list(null, 10).deadLetters().get(0).id();
        this.queue.pause("payments");

        assertThat(this.queue.deadLetters("payments").redrive(deadLetter)).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(count("delayqueue_journal")).isOne();
        assertThat(this.queue.deadLetters("payments").list(null, 10).deadLetters()).isEmpty();
        this.queue.resume("payments");
        await().untilAsserted(() -> assertThat(count("payment")).isOne());
        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isZero());
    }

    @Test
    void aTransactionalListenerNeedsALedger() {
        String url = ShopDatabase.H2.url();

        assertThatThrownBy(() -> run(Bank.class, url, "off"))
            .hasStackTraceContaining("delayqueue.journal.mode 'ledger'");
        assertThatThrownBy(() -> run(FutureBank.class, url, "ledger"))
            .hasStackTraceContaining("transactional must be false for a method that returns a CompletableFuture");
    }

    private long count(String table) {
        return jdbc().sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    @Configuration
    @EnableAutoConfiguration
    @Import(Payments.class)
    static class Bank {

    }

    @Configuration
    @EnableAutoConfiguration
    @Import(FuturePayments.class)
    static class FutureBank {

    }

    static class Payments {

        final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();

        private final JdbcClient jdbc;

        Payments(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @DelayedListener(queues = "payments", transactional = true)
        void pay(String payload, Delivery delivery) {
            int call = this.calls.computeIfAbsent(delivery.id(), (id) -> new AtomicInteger()).incrementAndGet();
            this.jdbc.sql("INSERT INTO payment (id) VALUES (?)").param(delivery.id()).update();
            if (delivery.id().equals("loses-redis")) {
                redis.commands().flushall();
            }
            if (delivery.id().equals("retries-once") && call == 1) {
                delivery.retryAfter(Duration.ZERO);
            }
            if (delivery.id().equals("dies-once") && call == 1) {
                delivery.deadLetter("the first call gives up");
            }
            if (delivery.id().equals("fails-once") && call == 1) {
                throw new IllegalStateException("the first call fails");
            }
        }

    }

    static class FuturePayments {

        @DelayedListener(queues = "payments", transactional = true)
        CompletableFuture<Void> pay(List<String> payload) {
            return CompletableFuture.completedFuture(null);
        }

    }

}
