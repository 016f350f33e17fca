package io.delayqueue.autoconfigure;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;

/** Configures the template that applications inject. To be imported in this order. */
final class DelayQueueTemplateConfiguration {

    private DelayQueueTemplateConfiguration() {
    }

    private static DelayQueueTemplate template(DelayQueueStore ports, EnvelopeCodec codec,
            DelayQueueProperties properties, ApplicationEventPublisher events,
            ObjectProvider<MessageObservations> observations, DeclaredQueues queues) {
        return new DelayQueueTemplate(ports, codec,
                properties.templateSettings(observations.getIfAvailable(() -> MessageObservations.NONE), queues),
                events, System::nanoTime);
    }

    /** Where the application has no operations of its own. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(DelayQueueOperations.class)
    static class OnlyOperations {

        @Bean
        DelayQueueTemplate delayQueueTemplate(DelayQueueStore ports, EnvelopeCodec codec,
                DelayQueueProperties properties, ApplicationEventPublisher events,
                ObjectProvider<MessageObservations> observations, DeclaredQueues queues) {
            return template(ports, codec, properties, events, observations, queues);
        }

    }

    /**
     * Where it has, such as a fake in a test: that is injected for the interface, and the
     * template for its class. A fallback only here, as it would lose to the template of a
     * further queue system where a bean is got by its class.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(DelayQueueTemplate.class)
    static class BesideOtherOperations {

        @Bean
        @Fallback
        DelayQueueTemplate delayQueueTemplate(DelayQueueStore ports, EnvelopeCodec codec,
                DelayQueueProperties properties, ApplicationEventPublisher events,
                ObjectProvider<MessageObservations> observations, DeclaredQueues queues) {
            return template(ports, codec, properties, events, observations, queues);
        }

    }

}
