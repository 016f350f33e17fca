package io.delayqueue.autoconfigure;

import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

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
            UnknownQueueGuard known) {
        return new UnusedQueueSettingsCheck(context, properties, known);
    }

    /** Logs that the application enables parts of a module that it has not added. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("io.delayqueue.web.autoconfigure.DelayQueueWebAutoConfiguration")
    static class MissingWebModuleConfiguration {

        private static final Logger logger = LoggerFactory.getLogger(MissingWebModuleConfiguration.class);

        MissingWebModuleConfiguration(Environment environment) {
            Stream.of("delayqueue.web.api.enabled", "delayqueue.web.dashboard.enabled")
                .filter((property) -> environment.getProperty(property, Boolean.class, false))
                .forEach((property) -> logger.warn(
                        "{} is set, but the delay queue serves nothing over HTTP, because "
                                + "delayqueue-web is not on the class path. Add the dependency delayqueue-web",
                        property));
        }

    }

}
