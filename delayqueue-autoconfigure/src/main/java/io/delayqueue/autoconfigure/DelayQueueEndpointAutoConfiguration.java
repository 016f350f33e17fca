package io.delayqueue.autoconfigure;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.actuator.DelayQueueEndpoint;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.listener.DelayedListenerRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the Actuator endpoint {@code delayqueue}. */
@AutoConfiguration(after = DelayQueueListenerAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnAvailableEndpoint(DelayQueueEndpoint.class)
@ConditionalOnBean({ DelayQueueOperations.class, DelayQueueInspector.class, DelayedListenerRegistry.class })
public final class DelayQueueEndpointAutoConfiguration {

    DelayQueueEndpointAutoConfiguration() {
    }

    @Bean
    @ConditionalOnMissingBean
    DelayQueueEndpoint delayQueueEndpoint(DelayQueueOperations operations, DelayQueueInspector inspector,
            DelayedListenerRegistry listeners, ObjectProvider<DelayQueueIntegrityChecker> integrityChecker,
            ObjectProvider<JournalOperations> journal, ApplicationEventPublisher events) {
        return new DelayQueueEndpoint(operations, inspector, listeners, integrityChecker.getIfAvailable(),
                journal.getIfAvailable(), events);
    }

}
