package io.delayqueue.autoconfigure;

import io.delayqueue.actuator.HistoryMeters;
import io.delayqueue.actuator.IntakeMeters;
import io.delayqueue.actuator.JournalMeters;
import io.delayqueue.actuator.MicrometerEventRecorderFactory;
import io.delayqueue.actuator.QueueGauges;
import io.delayqueue.actuator.StatisticsCache;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.observation.HandleMeterSuppressor;
import io.delayqueue.store.RemoteConsumerQueues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.MeterObservationHandler;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.core.annotation.Order;

/** Auto-configuration for the meters, where the application has a registry for them. */
@AutoConfiguration(
        after = { DelayQueueListenerAutoConfiguration.class, DelayQueueJournalAutoConfiguration.class,
                DelayQueueIntakeAutoConfiguration.class },
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ MeterRegistry.class, DelayedListenerLifecycle.class })
@ConditionalOnBooleanProperty(name = "delayqueue.metrics.enabled", matchIfMissing = true)
public final class DelayQueueMetricsAutoConfiguration {

    DelayQueueMetricsAutoConfiguration() {
    }

    @Bean
    @Proxyable(ProxyType.INTERFACES)
    @ConditionalOnMissingBean
    MicrometerEventRecorderFactory delayQueueMicrometerEventRecorderFactory(MeterRegistry registry,
            DelayQueueMetricsProperties properties) {
        return new MicrometerEventRecorderFactory(registry, properties.maxQueues());
    }

    /** Precedes Boot's handler, which has no order. */
    @Bean
    @Order(0)
    @ConditionalOnClass(MeterObservationHandler.class)
    @ConditionalOnBooleanProperty("delayqueue.observation.enabled")
    HandleMeterSuppressor delayQueueHandleMeterSuppressor() {
        return new HandleMeterSuppressor();
    }

    @Bean
    @ConditionalOnBean(StatisticsCache.class)
    @ConditionalOnMissingBean
    QueueGauges delayQueueGauges(MeterRegistry registry, DelayedListenerRegistry listeners, StatisticsCache statistics,
            DelayedListenerLifecycle worker, RemoteConsumerQueues consumed) {
        return new QueueGauges(registry, listeners, statistics, worker, consumed);
    }

    /** Nothing injects these beans, so they would not exist in a lazy application. */
    @Bean
    static LazyInitializationExcludeFilter delayQueueMetersLazyInitializationExcludeFilter() {
        return LazyInitializationExcludeFilter.forBeanTypes(JournalMeters.class, IntakeMeters.class,
                HistoryMeters.class);
    }

    @Bean
    @ConditionalOnBean(JournalFactory.class)
    JournalMeters delayQueueJournalMeters(MeterRegistry registry, JournalFactory journal) {
        return new JournalMeters(registry, journal.status());
    }

    @Bean
    @ConditionalOnBean(IntakeGroup.class)
    IntakeMeters delayQueueIntakeMeters(MeterRegistry registry, ObjectProvider<IntakeGroup> groups) {
        return new IntakeMeters(registry, groups.stream().flatMap((group) -> group.intakes().stream()).toList());
    }

    @Bean
    @ConditionalOnBean(HistoryFactory.class)
    HistoryMeters delayQueueHistoryMeters(MeterRegistry registry, HistoryFactory history) {
        return new HistoryMeters(registry, history::dropped);
    }

}
