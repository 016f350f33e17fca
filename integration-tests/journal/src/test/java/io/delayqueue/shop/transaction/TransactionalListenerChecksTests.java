package io.delayqueue.shop.transaction;

import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.delayqueue.DelayedListener;
import io.delayqueue.autoconfigure.DelayQueueSystem;
import io.delayqueue.autoconfigure.DelayQueueSystemBuilder;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.ShopDatabase;
import jakarta.transaction.Transactional.TxType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that a transactional listener that could not work stops the start. */
@Tag("server")
class TransactionalListenerChecksTests {

    private static RedisServer redis;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    private static void rejects(Class<?> application, String mode, String reason, String... settings) {
        assertThatThrownBy(
                () -> TransactionalListenerTests.run(application, redis, ShopDatabase.H2.url(), mode, settings).close())
            .hasStackTraceContaining(reason);
    }

    @Test
    void eachQueueNeedsALedger() {
        String reason = "delayqueue.journal.mode 'ledger'";
        rejects(Plain.class, "off", reason);
        rejects(Plain.class, "outbox", reason);
        rejects(Plain.class, "ledger", "queue 'checks' does not have " + reason,
                "--delayqueue.queues.checks.journal-mode=outbox");
    }

    @Test
    void theQueuesOfAnotherSystemHaveNoJournal() {
        rejects(OtherSystem.class, "ledger", "no queue of this system");
    }

    @Test
    void theMethodMustEndWithItsWrites() {
        rejects(Future.class, "ledger", "a method that returns a future or a publisher");
        rejects(Asynchronous.class, "ledger", "for an @Async method");
        rejects(AsynchronousClass.class, "ledger", "for an @Async method");
        rejects(OwnTransaction.class, "ledger", "for a method with propagation REQUIRES_NEW");
        rejects(ClassWithoutTransaction.class, "ledger", "for a method with propagation NOT_SUPPORTED");
        rejects(JakartaTransaction.class, "ledger", "for a method with propagation REQUIRES_NEW");
    }

    @Test
    void theTransactionManagerMustBeOfTheJournal() {
        rejects(ForeignManager.class, "ledger", "has another DataSource than the journal");
        rejects(TwoManagers.class, "ledger", "expected single matching bean but found 2");
    }

    @Configuration
    @EnableAutoConfiguration
    static class Plain {

        @DelayedListener(queues = "checks", transactional = true)
        void handle(String payload) {
        }

    }

    @Configuration
    @EnableAutoConfiguration
    static class OtherSystem {

        @Bean
        DelayQueueSystem others(DelayQueueSystemBuilder builder) {
            return builder.namespace("others").build();
        }

        @DelayedListener(queues = "checks", transactional = true, system = "others")
        void handle(String payload) {
        }

    }

    @Configuration
    @EnableAutoConfiguration
    static class Future {

        @DelayedListener(queues = "checks", transactional = true)
        CompletableFuture<Void> handle(String payload) {
            return CompletableFuture.completedFuture(null);
        }

    }

    @Configuration
    @EnableAutoConfiguration
    static class Asynchronous {

        @Async
        @DelayedListener(queues = "checks", transactional = true)
        void handle(String payload) {
        }

    }

    @Async
    @Configuration
    static class AsynchronousClass extends Plain {

    }

    @Configuration
    @EnableAutoConfiguration
    static class OwnTransaction {

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @DelayedListener(queues = "checks", transactional = true)
        void handle(String payload) {
        }

    }

    @Configuration
    @EnableAutoConfiguration
    @Transactional(propagation = Propagation.NOT_SUPPORTED)
    static class ClassWithoutTransaction {

        @DelayedListener(queues = "checks", transactional = true)
        void handle(String payload) {
        }

    }

    @Configuration
    @EnableAutoConfiguration
    static class JakartaTransaction {

        @jakarta.transaction.Transactional(TxType.REQUIRES_NEW)
        @DelayedListener(queues = "checks", transactional = true)
        void handle(String payload) {
        }

    }

    @Configuration
    static class ForeignManager extends Plain {

        @Bean
        PlatformTransactionManager foreign() {
            return new JdbcTransactionManager(new DriverManagerDataSource(ShopDatabase.H2.url()));
        }

    }

    @Configuration
    static class TwoManagers extends Plain {

        @Bean
        PlatformTransactionManager one(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        PlatformTransactionManager other(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

    }

}
