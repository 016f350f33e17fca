package io.delayqueue.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListeners;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Creates beans with listeners in a lazy application too; nobody else would ask for them.
 */
final class DelayedListenerLazyInitializationExcludeFilter implements LazyInitializationExcludeFilter {

    private final Set<Class<?>> without = ConcurrentHashMap.newKeySet();

    @Override
    public boolean isExcluded(String beanName, BeanDefinition beanDefinition, Class<?> beanType) {
        return hasListener(beanType);
    }

    private boolean hasListener(Class<?> type) {
        if (AopInfrastructureBean.class.isAssignableFrom(type) || this.without.contains(type)
                || !AnnotationUtils.isCandidateClass(type, Set.of(DelayedListener.class, DelayedListeners.class))) {
            return false;
        }
        boolean found = !MethodIntrospector
            .selectMethods(type,
                    (MethodIntrospector.MetadataLookup<Boolean>) (method) -> AnnotatedElementUtils
                        .getMergedRepeatableAnnotations(method, DelayedListener.class, DelayedListeners.class)
                        .isEmpty() ? null : Boolean.TRUE)
            .isEmpty();
        if (!found) {
            this.without.add(type);
        }
        return found;
    }

}
