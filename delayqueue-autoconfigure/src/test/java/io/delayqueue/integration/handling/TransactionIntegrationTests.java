package io.delayqueue.integration.handling;

import java.time.Duration;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.EachClient;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1 inside a transaction that a RedisTemplate of the application takes part in, with a
 * MULTI open on the thread's connection: a send is no part of it unless it asks to wait
 * for the commit.
 */
@Tag("server")
class TransactionIntegrationTests {

    private static final Duration FAR = Duration.ofHours(1);

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private DelayQueueOperations queue;

    private StringRedisTemplate template;

    private TransactionTemplate transaction;

    @EachClient
    void aSendInsideAMultiIsStoredAtOnceAndItsAnswerIsKnown(String client) {
        start(client);
        SendResult sent = this.transaction.execute((status) -> {
            multi();
            SendResult result = this.queue.send("orders", new Order(1), FAR);
            assertThat(result.outcome()).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(result.dueAt()).isNotNull();
            assertThat(this.redis.commands().hexists(key("messages"), result.id())).isTrue();
            assertThat(this.queue.find("orders", result.id())).isPresent();
            assertThat(this.redis.commands().exists(key("users"))).isZero();
            return result;
        });

        assertThat(this.redis.commands().get(key("users"))).isEqualTo("value");
        assertThat(this.queue.cancel("orders", sent.id())).isEqualTo(CancelResult.CANCELLED);
        this.redis.commands().del(key("users"));
        this.applications.assertNoKeysLeft(this.redis);
    }

    @EachClient
    void aRollbackLeavesWhatWasSent(String client) {
        start(client);
        SendResult sent = this.transaction.execute((status) -> {
            multi();
            status.setRollbackOnly();
            return this.queue.send("orders", new Order(1), FAR);
        });

        assertThat(this.redis.commands().exists(key("users"))).isZero();
        assertThat(this.queue.cancel("orders", sent.id())).isEqualTo(CancelResult.CANCELLED);
        this.applications.assertNoKeysLeft(this.redis);
    }

    @EachClient
    void anAfterCommitSendIsStoredWithTheCommitAndNotBefore(String client) {
        start(client);
        this.transaction.executeWithoutResult((status) -> {
            multi();
            assertThat(this.queue.send(afterCommit()).outcome()).isEqualTo(SendOutcome.DEFERRED);
            assertThat(this.redis.commands().exists(key("messages"))).isZero();
        });

        assertThat(this.queue.find("orders", "order:1")).isPresent();
        assertThat(this.redis.commands().get(key("users"))).isEqualTo("value");
        assertThat(this.queue.cancel("orders", "order:1")).isEqualTo(CancelResult.CANCELLED);
        this.redis.commands().del(key("users"));
        this.applications.assertNoKeysLeft(this.redis);
    }

    @EachClient
    void anAfterCommitSendIsForgottenWithTheRollback(String client) {
        start(client);
        this.transaction.executeWithoutResult((status) -> {
            multi();
            this.queue.send(afterCommit());
            status.setRollbackOnly();
        });

        assertThat(this.queue.find("orders", "order:1")).isEmpty();
        this.applications.assertNoKeysLeft(this.redis);
    }

    private void start(String client) {
        Application application = this.applications.start(TransactionConfiguration.class,
                // Its own transactions need more rights than the library does.
                Applications.at(this.redis.port(), "spring.data.redis.client-type=" + client,
                        "spring.data.redis.username=default", "spring.data.redis.password="));
        this.queue = application.queue();
        this.template = application.context().getBean("transactional", StringRedisTemplate.class);
        this.transaction = new TransactionTemplate(application.context().getBean(EmptyTransactions.class));
    }

    /** Opens a MULTI on the connection that is bound to this thread. */
    private void multi() {
        this.template.opsForValue().set(key("users"), "value");
        assertThat(this.redis.commands().exists(key("users"))).isZero();
    }

    private String key(String kind) {
        return this.applications.namespace() + ":{orders}:" + kind;
    }

    private static DelayedMessage afterCommit() {
        return DelayedMessage.builder("orders", new Order(1)).id("order:1").delay(FAR).afterCommit(true).build();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TransactionConfiguration {

        @Bean
        StringRedisTemplate transactional(RedisConnectionFactory factory) {
            StringRedisTemplate template = new StringRedisTemplate(factory);
            template.setEnableTransactionSupport(true);
            return template;
        }

        @Bean
        EmptyTransactions transactions() {
            return new EmptyTransactions();
        }

    }

    /** Transactions that consist of their synchronizations only. */
    static final class EmptyTransactions extends AbstractPlatformTransactionManager {

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            // Nothing of its own.
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            // Nothing of its own.
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            // Nothing of its own.
        }

    }

}
