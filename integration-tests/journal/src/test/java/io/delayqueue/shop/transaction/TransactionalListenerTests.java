package io.delayqueue.shop.transaction;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
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
import org.springframework.context.annotation.Bean;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
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
        this.context = run(Bank.class, redis, database.url(), "ledger");
        this.payments = this.context.getBean(Payments.class);
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        jdbc().sql("CREATE TABLE payment (id VARCHAR(50) NOT NULL)").update();
    }

    static ConfigurableApplicationContext run(Class<?> application, RedisServer redis, String url, String mode,
            String... settings) {
        String[] arguments = { "--spring.data.redis.port=" + redis.port(), "--spring.datasource.url=" + url,
                "--delayqueue.journal.mode=" + mode, "--delayqueue.journal.jdbc.initialize-schema=always",
                "--delayqueue.command-timeout=10s", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none" };
        return SpringApplication.run(application,
                Stream.of(arguments, settings)
                    .flatMap(Stream::of)
                    .collect(Collectors.toMap((setting) -> setting.substring(0, setting.indexOf('=')),
                            Function.identity(), (one, last) -> last))
                    .values()
                    .toArray(String[]::new));
    }

    @EachDatabase
    void theEffectCommitsWithTheEndOfTheMessage(ShopDatabase database) {
        start(database);

        this.queue.send("payments", "1", "pay", Duration.ZERO);

        await().untilAsserted(() -> assertThat(count("payment")).isOne());
        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isZero());
        assertThat(count("delayqueue_handled")).isOne();
        assertThat(this.payments.calls.get("1")).hasValue(1);
    }

    /** The effects of a failed attempt roll back, and a later one has them. */
    @EachDatabase
    void aFailedAttemptHasNoEffect(ShopDatabase database) {
        start(database);

        this.queue.send("payments", "fails-once", "pay", Duration.ZERO);
        this.queue.send("payments", "retries-once", "pay", Duration.ZERO);

        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isZero());
        assertThat(this.payments.calls.get("fails-once")).hasValue(2);
        assertThat(this.payments.calls.get("retries-once")).hasValue(2);
        assertThat(count("payment")).isEqualTo(2);
    }

    /** The error handler decides after the rollback, and without a transaction. */
    @Test
    void anErrorHandlerIsCalledAfterTheRollback() {
        start(ShopDatabase.H2);

        this.queue.send("payments", "released-once", "pay", Duration.ZERO);

        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isZero());
        assertThat(this.payments.calls.get("released-once")).hasValue(2);
        assertThat(count("payment")).isOne();
        assertThat(this.payments.transactions).containsExactly(false);
    }

    /** Not one message becomes a dead letter because the database is away. */
    @Test
    void noAttemptCountsWhileNoTransactionCanBeBegun(CapturedOutput output) {
        String url = ShopDatabase.POSTGRESQL.url();
        URI address = URI.create(url.substring("jdbc:".length()));
        try (TcpProxy proxy = TcpProxy.to(address.getPort())) {
            this.context = run(Bank.class, redis, url.replace(":" + address.getPort(), ":" + proxy.port()), "ledger",
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

    /** Records are deleted an hour later, if the row of their message is. */
    @EachDatabase
    void oldRecordsAreDeleted(ShopDatabase database) {
        start(database);
        this.queue.send("payments", "1", "pay", Duration.ofHours(2));
        this.queue.send("payments", "2", "pay", Duration.ZERO);
        await().untilAsserted(() -> assertThat(count("delayqueue_journal")).isOne());
        jdbc()
            .sql("INSERT INTO delayqueue_handled (revision, namespace, queue_name, message_id, handled_at) "
                    + "SELECT revision, namespace, queue_name, message_id, 0 FROM delayqueue_journal")
            .update();
        jdbc()
            .sql("INSERT INTO delayqueue_handled (revision, namespace, queue_name, message_id, handled_at) "
                    + "SELECT revision + 100, namespace, queue_name, message_id, 0 FROM delayqueue_journal")
            .update();
        assertThat(count("delayqueue_handled")).isEqualTo(3);

        SmartLifecycle reconciler = this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class);
        reconciler.stop();
        reconciler.start(); // cleans up at its start

        await().untilAsserted(() -> assertThat(count("delayqueue_handled WHERE revision > 100")).isZero());
        assertThat(count("delayqueue_handled")).isEqualTo(2);
    }

    private long count(String table) {
        return jdbc().sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    private JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    @Configuration
    @EnableAutoConfiguration
    static class Bank {

        @Bean
        Payments payments(JdbcClient jdbc) {
            return new Payments(jdbc);
        }

    }

    static class Payments {

        final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();

        /** Whether the error handler of a released message has run in a transaction. */
        final List<Boolean> transactions = new CopyOnWriteArrayList<>();

        private final JdbcClient jdbc;

        Payments(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        /** Resolved as the error handler of the listener. */
        public DelayedListenerErrorHandler errors() {
            return (delivery, error) -> {
                if (!delivery.id().equals("released-once")) {
                    return ErrorDecision.standard();
                }
                this.transactions.add(TransactionSynchronizationManager.isActualTransactionActive());
                return ErrorDecision.release(Duration.ZERO);
            };
        }

        @DelayedListener(queues = "payments", transactional = true, errorHandler = "#{payments.errors()}")
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
            if (List.of("fails-once", "released-once").contains(delivery.id()) && call == 1) {
                throw new IllegalStateException("the first call fails");
            }
        }

    }

}
