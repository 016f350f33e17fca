package io.delayqueue.autoconfigure;

import javax.sql.DataSource;

import io.delayqueue.admin.MessageHistory;
import io.delayqueue.journal.DelayQueueDataSource;
import io.delayqueue.journal.DelayQueueTransactionManager;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.journal.Journal;
import io.delayqueue.journal.JournalDatabase;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.listener.NodeHeartbeat;
import io.delayqueue.listener.handler.HandlerTransactions;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Auto-configuration for the journal, if a queue is configured to have one and the
 * application has a database.
 */
@AutoConfiguration(after = { DataSourceAutoConfiguration.class, DelayQueueAutoConfiguration.class })
@ConditionalOnClass({ JdbcClient.class, PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
@ConditionalOnBean(StoreComponents.class)
@Conditional({ OnJournalCondition.OfAnyMode.class, OnJournalDataSourceCondition.class })
@EnableConfigurationProperties(DelayQueueJournalProperties.class)
public final class DelayQueueJournalAutoConfiguration {

    DelayQueueJournalAutoConfiguration() {
    }

    @Bean
    JournalSchemaInitializer delayQueueJournalSchema(ObjectProvider<DataSource> dataSource,
            @DelayQueueDataSource ObjectProvider<DataSource> marked, DelayQueueJournalProperties properties) {
        return new JournalSchemaInitializer(marked.getIfAvailable(dataSource::getObject), properties);
    }

    @Bean
    @DependsOnDatabaseInitialization
    JournalDatabase delayQueueJournalDatabase(ObjectProvider<DataSource> dataSource,
            @DelayQueueDataSource ObjectProvider<DataSource> marked, DelayQueueProperties properties,
            DelayQueueJournalProperties journal) {
        return new JournalDatabase(marked.getIfAvailable(dataSource::getObject), properties.namespace(),
                journal.tables());
    }

    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    @DependsOnDatabaseInitialization
    JournalFactory delayQueueJournalFactory(JournalDatabase database, StoreComponents store,
            DelayQueueProperties properties, ApplicationEventPublisher events) {
        JournalFactory factory = new JournalFactory(database, store, properties::journalMode,
                properties.journal().settings(properties.commandTimeout()), events::publishEvent);
        factory.recordOccurrences(store.schedules());
        return factory;
    }

    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    Journal delayQueueJournal(JournalFactory factory) {
        return factory.journal();
    }

    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    JournalOperations delayQueueJournalOperations(JournalFactory factory) {
        return factory.operations();
    }

    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    SmartLifecycle delayQueueJournalReconciler(JournalFactory factory) {
        return factory.reconciler();
    }

    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    SmartLifecycle delayQueueJournalRelay(JournalFactory factory) {
        return factory.relay();
    }

    /**
     * Runs transactional handlers with the marked transaction manager, or the only or
     * primary one.
     */
    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    HandlerTransactions delayQueueHandlerTransactions(JournalFactory factory, DelayQueueProperties properties,
            ObjectProvider<PlatformTransactionManager> transactions,
            @DelayQueueTransactionManager ObjectProvider<PlatformTransactionManager> marked) {
        return new JournalHandlerTransactions(factory, properties,
                () -> marked.getIfAvailable(transactions::getObject));
    }

    /** Configures the history of messages. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnJournalCondition.OfHistory.class)
    static class HistoryConfiguration {

        @Bean
        HistoryFactory delayQueueHistoryFactory(JournalDatabase database, DelayQueueProperties properties,
                Environment environment) {
            NodeStatusCodec.Node node = NodeHeartbeat
                .thisProcess(environment.getProperty("spring.application.name", "application"));
            DelayQueueProperties.Journal journal = properties.journal();
            return new HistoryFactory(database, "%s@%s:%d".formatted(node.application(), node.host(), node.pid()),
                    properties::journalMode, journal.history().settings(journal.maintenance()));
        }

        @Bean
        @DependsOnDatabaseInitialization
        SmartLifecycle delayQueueHistoryWriter(HistoryFactory factory) {
            return factory.writer();
        }

        @Bean
        @ConditionalOnMissingBean
        MessageHistory delayQueueMessageHistory(HistoryFactory factory, ObjectProvider<DelayQueueTemplate> operations) {
            return factory.messages(operations::getObject);
        }

    }

}
