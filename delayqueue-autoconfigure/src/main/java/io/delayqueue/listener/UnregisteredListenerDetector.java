package io.delayqueue.listener;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.listener.handler.InvalidListenerException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Creates beans with listener methods that the bean factory has not created at startup:
 * the products of factories and of scoped proxies, whose listeners would not run
 * otherwise. Warns of lazy beans, and fails the start for a bean that is not a singleton.
 */
final class UnregisteredListenerDetector {

    private static final Logger logger = LoggerFactory.getLogger(UnregisteredListenerDetector.class);

    private final ConfigurableListableBeanFactory beanFactory;

    private final Function<Class<?>, Set<Method>> listenerMethods;

    private final Predicate<String> isRegistered;

    /**
     * Creates a check.
     * @param listenerMethods finds the annotated methods of a class
     * @param isRegistered whether the listeners of the bean with that name are registered
     */
    UnregisteredListenerDetector(ConfigurableListableBeanFactory beanFactory,
            Function<Class<?>, Set<Method>> listenerMethods, Predicate<String> isRegistered) {
        this.beanFactory = beanFactory;
        this.listenerMethods = listenerMethods;
        this.isRegistered = isRegistered;
    }

    /**
     * Creates the products of factories, and warns of lazy beans, which listen once
     * something else creates them.
     * @throws InvalidListenerException for a bean that is not a singleton, which can
     * never listen
     */
    void check() {
        for (String name : this.beanFactory.getBeanDefinitionNames()) {
            BeanDefinition definition = this.beanFactory.getMergedBeanDefinition(name);
            if (!definition.isAbstract()) {
                check(name, definition);
            }
        }
    }

    private void check(String name, BeanDefinition definition) {
        if (ScopedProxyUtils.isScopedTarget(name)) {
            create(ScopedProxyUtils.getOriginalBeanName(name), methods(name));
        }
        else if (!definition.isSingleton()) {
            methods(name).stream().findFirst().ifPresent((method) -> refuse(name, definition.getScope(), method));
        }
        else if (definition.isLazyInit()) {
            if (!this.isRegistered.test(name)) {
                methods(name).forEach((method) -> warn(name, method));
            }
        }
        else if (this.beanFactory.isFactoryBean(name)) {
            create(name, methods(name));
        }
    }

    private Collection<Method> methods(String beanName) {
        Class<?> type = this.beanFactory.getType(beanName, false);
        return (type != null
                && AnnotationUtils.isCandidateClass(type, Set.of(DelayedListener.class, DelayedSchedule.class)))
                        ? this.listenerMethods.apply(type) : Set.of();
    }

    private void create(String beanName, Collection<Method> methods) {
        if (!methods.isEmpty() && !this.isRegistered.test(beanName)) {
            this.beanFactory.getBean(beanName);
        }
    }

    private static void refuse(String beanName, @Nullable String scope, Method method) {
        throw new InvalidListenerException(beanName, InvalidListenerException.describe(method),
                "the bean must be a singleton, but its scope is '%s': each of its instances would be one more listener"
                    .formatted(scope),
                null);
    }

    private static void warn(String beanName, Method method) {
        logger.warn("@DelayedListener method '{}' handles nothing yet, because its bean '{}' is lazy and was not "
                + "created at the start: it listens once something else creates the bean. Remove @Lazy to have it "
                + "listen from the start", InvalidListenerException.describe(method), beanName);
    }

}
