package io.delayqueue.test.autoconfigure;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.util.Set;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.DelayedListeners;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.DelayedSchedules;
import tools.jackson.databind.JacksonModule;

import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.filter.AbstractTypeHierarchyTraversingFilter;
import org.springframework.core.type.filter.AssignableTypeFilter;
import org.springframework.core.type.filter.TypeFilter;

/**
 * Leaves out all components but those that {@link DelayQueueTest} names, or else those
 * that have or inherit listener methods. Always includes error handlers, and the
 * components of the application that define its JSON.
 */
final class DelayQueueTypeExcludeFilter extends StandardAnnotationCustomizableTypeExcludeFilter<DelayQueueTest> {

    private static final Set<Class<? extends Annotation>> ANNOTATIONS = Set.of(DelayedListener.class,
            DelayedListeners.class, DelayedSchedule.class, DelayedSchedules.class);

    /** They decide the outcome of the listeners. */
    private static final TypeFilter ERROR_HANDLERS = new AssignableTypeFilter(DelayedListenerErrorHandler.class);

    private static final TypeFilter JACKSON_MODULES = new AssignableTypeFilter(JacksonModule.class);

    /** By its name, as an application may have Jackson without Boot's support of it. */
    private static final String JACKSON_COMPONENT = "org.springframework.boot.jackson.JacksonComponent";

    private static final TypeFilter LISTENERS = new AbstractTypeHierarchyTraversingFilter(true, true) {

        @Override
        protected boolean matchSelf(MetadataReader reader) {
            AnnotationMetadata type = reader.getAnnotationMetadata();
            return ANNOTATIONS.stream().anyMatch((annotation) -> type.hasAnnotatedMethods(annotation.getName()));
        }

    };

    private final Set<Class<?>> listeners;

    DelayQueueTypeExcludeFilter(Class<?> testClass) {
        super(testClass);
        this.listeners = Set.of(getAnnotation().getClassArray("listeners"));
    }

    @Override
    protected Set<Class<?>> getComponentIncludes() {
        return this.listeners;
    }

    @Override
    protected boolean defaultInclude(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        return super.defaultInclude(reader, factory) || ERROR_HANDLERS.match(reader, factory) || isJson(reader, factory)
                || (this.listeners.isEmpty() && LISTENERS.match(reader, factory));
    }

    private static boolean isJson(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        return JACKSON_MODULES.match(reader, factory) || reader.getAnnotationMetadata().isAnnotated(JACKSON_COMPONENT);
    }

}
