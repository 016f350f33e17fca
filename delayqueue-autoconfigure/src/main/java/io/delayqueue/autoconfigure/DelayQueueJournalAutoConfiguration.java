package io.delayqueue.autoconfigure;

import java.util.function.Supplier;

import javax.sql.DataSource;

import io.delayqueue.admin.MessageHistory;
import io.delayqueue.journal.HandledMessages;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.journal.Journal;
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
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
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
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration for the journal, if a queue is configured to have one and the
 * application has a database.
 */
@AutoConfiguration(after = { DataSourceAutoConfiguration.class, DelayQueueAutoConfiguration.class })
@ConditionalOnClass({ JdbcClient.class, PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnBean(StoreComponents.class)
@Conditional(OnJournalCondition.OfAnyMode.class)
@EnableConfigurationProperties(DelayQueueJournalProperties.class)
public final class DelayQueueJournalAutoConfiguration {

    DelayQueueJournalAutoConfiguration() {
    }

    @Bean
    PropertiesBasedDataSourceScriptDatabaseInitializer<?> delayQueueJournalSchema(DataSource dataSource,
            DelayQueueJournalProperties properties) {
        return new PropertiesBasedDataSourceScriptDatabaseInitializer<>(dataSource, properties);
    }

    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    @DependsOnDatabaseInitialization
    JournalFactory delayQueueJournalFactory(DataSource dataSource, StoreComponents store,
            DelayQueueProperties properties, ApplicationEventPublisher events) {
        return new JournalFactory(dataSource, properties.namespace(), store, properties::journalMode,
                properties.commandTimeout(), events::publishEvent);
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

    /** Runs transactional handlers with the only, or primary, transaction manager. */
    @Bean
    @Conditional(OnJournalCondition.OfRequests.class)
    HandlerTransactions delayQueueHandlerTransactions(JournalFactory factory,
            ObjectProvider<PlatformTransactionManager> transactions) {
        Supplier<HandledMessages> handled = SingletonSupplier
            .of(() -> factory.handledMessages(transactions.getObject()));
        return (message, handler) -> handled.get().execute(message.revision(), handler::call);
    }

    /** Configures the history of messages. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnJournalCondition.OfHistory.class)
    static class HistoryConfiguration {

        @Bean
        HistoryFactory delayQueueHistoryFactory(DataSource dataSource, DelayQueueProperties properties,
                Environment environment) {
            NodeStatusCodec.Node node = NodeHeartbeat
                .thisProcess(environment.getProperty("spring.application.name", "application"));
            return new HistoryFactory(dataSource, properties.namespace(),
                    "%s@%s:%d".formatted(node.application(), node.host(), node.pid()), properties::journalMode,
                    properties.journal().history().settings());
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
