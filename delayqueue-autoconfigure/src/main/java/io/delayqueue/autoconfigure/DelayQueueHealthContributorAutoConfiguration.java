package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.actuator.DelayQueueHealthIndicator;
import io.delayqueue.actuator.HealthSettings;
import io.delayqueue.actuator.IntakeHealthIndicator;
import io.delayqueue.actuator.JournalHealthIndicator;
import io.delayqueue.actuator.StatisticsCache;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.routing.UnconsumedQueueCheck;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/** Auto-configuration for the health contributor {@code delayqueue}. */
@AutoConfiguration(after = { DelayQueueListenerAutoConfiguration.class, DelayQueueJournalAutoConfiguration.class,
        DelayQueueIntakeAutoConfiguration.class })
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnEnabledHealthIndicator("delayqueue")
@ConditionalOnBean({ DelayedListenerLifecycle.class, StatisticsCache.class })
@EnableConfigurationProperties(DelayQueueHealthProperties.class)
public final class DelayQueueHealthContributorAutoConfiguration {

    /**
     * Time limit of a health call, because a probe may query other contributors as well.
     */
    private static final Duration LIMIT = Duration.ofMillis(500);

    private static final Duration MAX_SILENCE = Duration.ofSeconds(10);

    DelayQueueHealthContributorAutoConfiguration() {
    }

    /** Boot names the contributor after the bean. */
    @Bean
    @ConditionalOnMissingBean(name = "delayqueueHealthIndicator")
    DelayQueueHealthIndicator delayqueueHealthIndicator(StatisticsCache statistics, DelayedListenerRegistry listeners,
            DelayedListenerLifecycle worker, DelayQueueHealthProperties properties, DelayQueueProperties queue,
            ObjectProvider<UnconsumedQueueCheck> unconsumed) {
        Duration most = properties.maxDueAge();
        Duration silence = (queue.commandTimeout().compareTo(MAX_SILENCE) < 0) ? queue.commandTimeout() : MAX_SILENCE;
        return new DelayQueueHealthIndicator(statistics, listeners, worker::isSubscribed,
                new HealthSettings(most.isZero() ? null : most, LIMIT, silence),
                () -> unconsumed.stream().findFirst().map(UnconsumedQueueCheck::known).orElse(Map.of()));
    }

    @Bean
    @Conditional(OnIntakeCondition.class)
    @ConditionalOnMissingBean(name = "delayqueueIntakeHealthIndicator")
    IntakeHealthIndicator delayqueueIntakeHealthIndicator(ObjectProvider<IntakeGroup> groups) {
        return new IntakeHealthIndicator(groups.stream().flatMap((group) -> group.intakes().stream()).toList());
    }

    @Bean
    @ConditionalOnBean(JournalFactory.class)
    @ConditionalOnMissingBean(name = "delayqueueJournalHealthIndicator")
    JournalHealthIndicator delayqueueJournalHealthIndicator(JournalFactory journal) {
        return new JournalHealthIndicator(journal.status());
    }

}
