package io.delayqueue.shop.transaction;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.delayqueue.DelayedListener;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.DelayQueueDataSource;
import io.delayqueue.journal.DelayQueueTransactionManager;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests which database of an application with several holds the journal. */
@Tag("server")
class SeveralDataSourcesTests {

    private static final String QUEUE = "accounts";

    private static RedisServer redis;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    private static ConfigurableApplicationContext run(Class<?> application) {
        return SpringApplication.run(application, "--spring.data.redis.port=" + redis.port(),
                "--delayqueue.journal.mode=ledger", "--delayqueue.journal.jdbc.initialize-schema=always",
                "--spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure."
                        + "HibernateJpaAutoConfiguration",
                "--spring.data.jpa.repositories.enabled=false", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none");
    }

    /**
     * P1: rows commit with the transactions of the marked data source, and not with those
     * of the primary one.
     */
    @Test
    void theJournalIsInTheMarkedDatabase() {
        try (ConfigurableApplicationContext context = run(MarkedDataSource.class)) {
            DelayQueueTemplate queue = context.getBean(DelayQueueTemplate.class);
            TransactionTemplate primary = transaction(context, "primaryTransactions");
            TransactionTemplate marked = transaction(context, "journalTransactions");

            assertThatThrownBy(() -> primary.execute((status) -> queue.send(QUEUE, "rejected")))
                .isInstanceOf(IllegalTransactionStateException.class);
            marked.executeWithoutResult((status) -> {
                queue.send(QUEUE, "rolled back");
                status.setRollbackOnly();
            });
            SendOutcome outcome = marked.execute((status) -> queue.send(QUEUE, "committed").outcome());
            assertThat(outcome).isEqualTo(SendOutcome.DEFERRED);

            Listener listener = context.getBean(Listener.class);
            await().untilAsserted(() -> assertThat(listener.handled).containsExactly("committed"));
            assertThat(hasJournal(context, "journalDatabase")).isTrue();
            assertThat(hasJournal(context, "primaryDatabase")).isFalse();
        }
    }

    @Test
    void theStartFailsWithoutAChoice() {
        assertThatThrownBy(() -> run(UnmarkedDataSources.class))
            .hasStackTraceContaining("one that is primary or has the annotation @DelayQueueDataSource")
            .hasStackTraceContaining("no transition would be recorded");
    }

    private static TransactionTemplate transaction(ConfigurableApplicationContext context, String manager) {
        return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
    }

    private static boolean hasJournal(ConfigurableApplicationContext context, String database) {
        return JdbcClient.create(context.getBean(database, DataSource.class))
            .sql("SELECT COUNT(*) FROM information_schema.tables WHERE LOWER(table_name) = 'delayqueue_journal'")
            .query(Long.class)
            .single() > 0;
    }

    private static DataSource database() {
        return new DriverManagerDataSource(ShopDatabase.H2.url());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Listener.class)
    static class MarkedDataSource {

        @Bean
        @Primary
        DataSource primaryDatabase() {
            return database();
        }

        @Bean
        @DelayQueueDataSource
        DataSource journalDatabase() {
            return database();
        }

        @Bean
        @Primary
        PlatformTransactionManager primaryTransactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        @DelayQueueTransactionManager
        PlatformTransactionManager journalTransactions(@DelayQueueDataSource DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class UnmarkedDataSources {

        @Bean
        DataSource one() {
            return database();
        }

        @Bean
        DataSource other() {
            return database();
        }

    }

    static class Listener {

        final List<String> handled = new CopyOnWriteArrayList<>();

        @DelayedListener(queues = QUEUE, transactional = true)
        void handle(String content) {
            this.handled.add(content);
        }

    }

}
