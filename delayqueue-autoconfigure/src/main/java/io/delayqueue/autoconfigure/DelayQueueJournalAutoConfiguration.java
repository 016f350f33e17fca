package io.delayqueue.autoconfigure;

import javax.sql.DataSource;

import io.delayqueue.journal.Journal;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.store.routing.StoreComponents;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Auto-configuration for the journal, if a queue is configured to have one and the
 * application has a database.
 */
@AutoConfiguration(after = { DataSourceAutoConfiguration.class, DelayQueueAutoConfiguration.class })
@ConditionalOnClass({ JdbcClient.class, PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnBean(StoreComponents.class)
@Conditional(OnJournalCondition.class)
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
    @DependsOnDatabaseInitialization
    JournalFactory delayQueueJournalFactory(DataSource dataSource, StoreComponents store,
            DelayQueueProperties properties, ApplicationEventPublisher events) {
        return new JournalFactory(dataSource, properties.namespace(), store, properties::journalMode,
                properties.commandTimeout(), events::publishEvent);
    }

    @Bean
    Journal delayQueueJournal(JournalFactory factory) {
        return factory.journal();
    }

    @Bean
    SmartLifecycle delayQueueJournalRelay(JournalFactory factory) {
        return factory.relay();
    }

}
