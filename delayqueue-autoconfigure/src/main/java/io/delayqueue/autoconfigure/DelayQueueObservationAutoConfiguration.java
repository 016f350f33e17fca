package io.delayqueue.autoconfigure;

import io.delayqueue.observation.DelayQueueObservation.LowCardinality;
import io.delayqueue.observation.HandleObservationConvention;
import io.delayqueue.observation.LinkingTracingObservationHandler;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.observation.SendObservationConvention;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Auto-configuration for observations of sends and handlers, and their traces. */
@AutoConfiguration(
        afterName = { "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
                "org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration" })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
@ConditionalOnBooleanProperty("delayqueue.observation.enabled")
@EnableConfigurationProperties({ DelayQueueObservationProperties.class, DelayQueueMetricsProperties.class })
public final class DelayQueueObservationAutoConfiguration {

    DelayQueueObservationAutoConfiguration() {
    }

    @Bean
    @ConditionalOnMissingBean
    MessageObservations delayQueueObservations(ObservationRegistry registry,
            ObjectProvider<SendObservationConvention> send, ObjectProvider<HandleObservationConvention> handle) {
        return new MessageObservations(registry, send.getIfAvailable(), handle.getIfAvailable());
    }

    /** Applies if the application has meters, also with those of the library disabled. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterFilter.class)
    static class MeterConfiguration {

        /** Senders may invent names; a tag must not have unlimited values. */
        @Bean
        static MeterFilter delayQueueObservedQueuesMeterFilter(DelayQueueMetricsProperties properties) {
            return MeterFilter.maximumAllowableTags("delayqueue.send", LowCardinality.QUEUE.asString(),
                    properties.maxQueues(), MeterFilter.deny());
        }

    }

    /** Applies if the application uses tracing. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ Tracer.class, Propagator.class })
    @ConditionalOnBean({ Tracer.class, Propagator.class })
    static class TracingConfiguration {

        /** Before Boot's handler for all received messages, at 1000. */
        private static final int BEFORE_BOOTS = 500;

        @Bean
        @Order(BEFORE_BOOTS)
        @ConditionalOnMissingBean
        LinkingTracingObservationHandler delayQueueTracingObservationHandler(Tracer tracer, Propagator propagator,
                DelayQueueObservationProperties properties) {
            return new LinkingTracingObservationHandler(tracer, propagator, properties.linkAfter());
        }

    }

}
