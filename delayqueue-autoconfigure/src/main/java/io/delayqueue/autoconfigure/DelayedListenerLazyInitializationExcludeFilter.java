package io.delayqueue.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Set;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListeners;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.DelayedSchedules;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Excludes beans with listeners from lazy initialization, because no other bean requests
 * them.
 */
final class DelayedListenerLazyInitializationExcludeFilter implements LazyInitializationExcludeFilter {

    private static final Set<Class<? extends Annotation>> ANNOTATIONS = Set.of(DelayedListener.class,
            DelayedListeners.class, DelayedSchedule.class, DelayedSchedules.class);

    @Override
    public boolean isExcluded(String beanName, BeanDefinition beanDefinition, Class<?> beanType) {
        MetadataLookup<Boolean> lookup = DelayedListenerLazyInitializationExcludeFilter::listensOrNull;
        return AnnotationUtils.isCandidateClass(beanType, ANNOTATIONS)
                && !MethodIntrospector.selectMethods(beanType, lookup).isEmpty();
    }

    private static @Nullable Boolean listensOrNull(Method method) {
        boolean listens = !AnnotatedElementUtils
            .getMergedRepeatableAnnotations(method, DelayedListener.class, DelayedListeners.class)
            .isEmpty();
        boolean scheduled = !AnnotatedElementUtils
            .getMergedRepeatableAnnotations(method, DelayedSchedule.class, DelayedSchedules.class)
            .isEmpty();
        return (listens || scheduled) ? Boolean.TRUE : null;
    }

}
