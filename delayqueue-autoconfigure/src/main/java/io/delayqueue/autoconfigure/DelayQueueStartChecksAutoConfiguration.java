package io.delayqueue.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for checks that run once the application context is complete, and
 * only log warnings.
 */
@AutoConfiguration(after = DelayQueueListenerAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
public final class DelayQueueStartChecksAutoConfiguration {

    DelayQueueStartChecksAutoConfiguration() {
    }

    @Bean
    CacheProviderCheck delayQueueCacheProviderCheck(ApplicationContext context) {
        return new CacheProviderCheck(context);
    }

    @Bean
    UnusedQueueSettingsCheck delayQueueQueueSettingsCheck(ApplicationContext context, DelayQueueProperties properties,
            DeclaredQueues known) {
        return new UnusedQueueSettingsCheck(context, properties, known);
    }

}
