package io.delayqueue.autoconfigure;

import io.delayqueue.actuator.KnownStatistics;
import io.delayqueue.actuator.MicrometerEvents;
import io.delayqueue.actuator.QueueGauges;
import io.delayqueue.engine.ConsumedQueues;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.TransferWorker;
import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.ProxyType;

/** Auto-configuration for the meters, where the application has a registry for them. */
@AutoConfiguration(after = DelayQueueListenerAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ MeterRegistry.class, TransferWorker.class })
@ConditionalOnBooleanProperty(name = "delayqueue.metrics.enabled", matchIfMissing = true)
public final class DelayQueueMetricsAutoConfiguration {

    DelayQueueMetricsAutoConfiguration() {
    }

    @Bean
    @Proxyable(ProxyType.INTERFACES)
    @ConditionalOnMissingBean
    MicrometerEvents delayQueueEvents(MeterRegistry registry, DelayQueueMetricsProperties properties) {
        return new MicrometerEvents(registry, properties.maxQueues());
    }

    @Bean
    @ConditionalOnBean(KnownStatistics.class)
    @ConditionalOnMissingBean
    QueueGauges delayQueueGauges(MeterRegistry registry, DelayedListenerRegistry listeners, KnownStatistics statistics,
            TransferWorker worker, ConsumedQueues consumed) {
        return new QueueGauges(registry, listeners, statistics, worker, consumed);
    }

}
