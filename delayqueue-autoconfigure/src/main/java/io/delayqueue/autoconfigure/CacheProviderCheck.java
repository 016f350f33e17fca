package io.delayqueue.autoconfigure;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.cache.CacheManager;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.util.ClassUtils;

/**
 * Logs that Boot keeps the application's cache in Redis if this may be a side effect of
 * the starter: Boot prefers Redis over in-process caches as soon as there is a connection
 * factory.
 */
final class CacheProviderCheck implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger logger = LoggerFactory.getLogger(CacheProviderCheck.class);

    private static final String BOOTS_CHOICE = "org.springframework.boot.cache.autoconfigure.RedisCacheConfiguration";

    private static final String TYPE = "spring.cache.type";

    private final ApplicationContext context;

    CacheProviderCheck(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() != this.context || this.context.getEnvironment().containsProperty(TYPE)) {
            return;
        }
        Provider.present(this.context.getClassLoader())
            .filter((provider) -> hasChosenRedis())
            .ifPresent((provider) -> logger.warn(
                    "Boot keeps the application's cache in Redis, as there is a connection factory for Redis, although "
                            + "{} is on the class path. Set {}={} to have the cache there, or {}=redis if Redis is "
                            + "intended",
                    provider.title(), TYPE, provider.title().toLowerCase(Locale.ROOT), TYPE));
    }

    private boolean hasChosenRedis() {
        if (!(this.context instanceof ConfigurableApplicationContext configurable)) {
            return false;
        }
        ConfigurableListableBeanFactory beans = configurable.getBeanFactory();
        return Arrays.stream(beans.getBeanNamesForType(CacheManager.class, true, false))
            .filter(beans::containsBeanDefinition)
            .map(beans::getMergedBeanDefinition)
            .anyMatch((definition) -> definition instanceof RootBeanDefinition root
                    && isMadeByBoot(root.getResolvedFactoryMethod()));
    }

    private static boolean isMadeByBoot(@Nullable Method factoryMethod) {
        return factoryMethod != null && factoryMethod.getDeclaringClass().getName().equals(BOOTS_CHOICE);
    }

    /**
     * Describes a cache provider that Boot would choose without Redis.
     *
     * @param title its name, in lower case the value of {@code spring.cache.type}
     * @param classes Boot requires these
     */
    private record Provider(String title, List<String> classes) {

        private static final List<Provider> ALL = List.of(
                new Provider("Caffeine",
                        List.of("com.github.benmanes.caffeine.cache.Caffeine",
                                "org.springframework.cache.caffeine.CaffeineCacheManager")),
                new Provider("Cache2k",
                        List.of("org.cache2k.Cache2kBuilder", "org.cache2k.extra.spring.SpringCache2kCacheManager")));

        static Optional<Provider> present(@Nullable ClassLoader classLoader) {
            return ALL.stream()
                .filter((provider) -> provider.classes.stream()
                    .allMatch((type) -> ClassUtils.isPresent(type, classLoader)))
                .findFirst();
        }

    }

}
