package io.delayqueue.autoconfigure;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.journal.Journal;
import io.delayqueue.journal.JournalMode;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;

/**
 * Configures the template that applications inject. The nested configurations must be
 * imported in this order.
 */
final class DelayQueueTemplateConfiguration {

    private DelayQueueTemplateConfiguration() {
    }

    private static DelayQueueTemplate template(StoreComponents components, EnvelopeCodec codec,
            DelayQueueProperties properties, ApplicationEventPublisher events,
            ObjectProvider<MessageObservations> observations, UnknownQueueGuard queues,
            ObjectProvider<Journal> journals) {
        Journal journal = journals.getIfAvailable();
        if (journal == null && properties.hasJournal(JournalMode::recordsRequests)) {
            throw MissingJournalException.ofRequests();
        }
        return new DelayQueueTemplate(components, codec,
                properties.templateSettings(observations.getIfAvailable(() -> MessageObservations.NONE), queues),
                events, System::nanoTime, journal);
    }

    /** Applies if the application does not define {@link DelayQueueOperations}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(DelayQueueOperations.class)
    static class OnlyOperations {

        @Bean
        DelayQueueTemplate delayQueueTemplate(StoreComponents components, EnvelopeCodec codec,
                DelayQueueProperties properties, ApplicationEventPublisher events,
                ObjectProvider<MessageObservations> observations, UnknownQueueGuard queues,
                ObjectProvider<Journal> journals) {
            return template(components, codec, properties, events, observations, queues, journals);
        }

    }

    /**
     * Applies if the application defines them, such as a fake in a test: the interface
     * resolves to that bean, and the class to the template. The template is a fallback
     * only here; otherwise a lookup by class would return the template of a further queue
     * system.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(DelayQueueTemplate.class)
    static class BesideOtherOperations {

        @Bean
        @Fallback
        DelayQueueTemplate delayQueueTemplate(StoreComponents components, EnvelopeCodec codec,
                DelayQueueProperties properties, ApplicationEventPublisher events,
                ObjectProvider<MessageObservations> observations, UnknownQueueGuard queues,
                ObjectProvider<Journal> journals) {
            return template(components, codec, properties, events, observations, queues, journals);
        }

    }

}
