package io.delayqueue.listener;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListeners;
import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.HandlerMethodAdapter;
import io.delayqueue.listener.handler.InvalidListenerException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.listener.poll.ListenerCounters;
import io.delayqueue.listener.poll.PartitionBinding;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds methods with {@link DelayedListener} and registers a listener for each
 * annotation, once all singletons exist. The listeners of a lazy bean are registered, and
 * started, when the bean is created. Beans that are not singletons cannot have listeners:
 * each instance would be one more listener.
 * <p>
 * <strong>Threads.</strong> Beans may be created on several threads.
 */
public final class DelayedListenerAnnotationBeanPostProcessor
        implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton, Ordered {

    private final ObjectProvider<DelayedListenerRegistry> registry;

    private final Function<String, DelayedListenerRegistry> systems;

    private final Set<Class<?>> nonAnnotatedClasses = ConcurrentHashMap.newKeySet();

    private final List<Found> found = new ArrayList<>();

    private final Set<String> beansWithListeners = ConcurrentHashMap.newKeySet();

    /** Grouped by registry, as queues of several systems may have the same name. */
    private final Map<DelayedListenerRegistry, PayloadTypeAgreement> payloads = new ConcurrentHashMap<>();

    private @Nullable BeanFactory beanFactory;

    private boolean complete;

    /**
     * Creates a post-processor.
     * @param registry receives the listeners; resolved at the first registration, so that
     * this bean does not create others too early
     * @param systems finds the registry of an additional queue system by its name, or
     * throws an {@link IllegalArgumentException}
     */
    public DelayedListenerAnnotationBeanPostProcessor(ObjectProvider<DelayedListenerRegistry> registry,
            Function<String, DelayedListenerRegistry> systems) {
        this.registry = registry;
        this.systems = systems;
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
        // Targets of a scoped proxy come and go; the proxy itself listens.
        boolean infrastructure = (bean instanceof AopInfrastructureBean && !(bean instanceof ScopedObject))
                || ScopedProxyUtils.isScopedTarget(beanName);
        if (infrastructure || this.nonAnnotatedClasses.contains(targetClass)
                || !AnnotationUtils.isCandidateClass(targetClass, DelayedListener.class)) {
            return bean;
        }
        Map<Method, Set<DelayedListener>> methods = listenerMethods(targetClass);
        if (methods.isEmpty()) {
            this.nonAnnotatedClasses.add(targetClass);
            return bean;
        }
        this.beansWithListeners.add(beanName);
        methods.forEach((method, annotations) -> add(new Found(bean, beanName, method, List.copyOf(annotations))));
        return bean;
    }

    private static Map<Method, Set<DelayedListener>> listenerMethods(Class<?> type) {
        return MethodIntrospector.selectMethods(type,
                (MethodIntrospector.MetadataLookup<Set<DelayedListener>>) DelayedListenerAnnotationBeanPostProcessor::annotations);
    }

    private static @Nullable Set<DelayedListener> annotations(Method method) {
        Set<DelayedListener> annotations = AnnotatedElementUtils.getMergedRepeatableAnnotations(method,
                DelayedListener.class, DelayedListeners.class);
        return annotations.isEmpty() ? null : annotations;
    }

    private void add(Found listener) {
        if (this.beanFactory != null && this.beanFactory.containsBean(listener.beanName())
                && !this.beanFactory.isSingleton(listener.beanName())) {
            throw listener.invalid("the bean must be a singleton, or each of its instances would be one more listener",
                    null);
        }
        // Beans may be created while the last ones are registered.
        synchronized (this.found) {
            if (!this.complete) {
                this.found.add(listener);
                return;
            }
        }
        register(listener);
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<Found> all;
        synchronized (this.found) {
            all = List.copyOf(this.found);
            this.found.clear();
            this.complete = true;
        }
        all.forEach(this::register);
        if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
            new UnregisteredListenerDetector(beans, (type) -> listenerMethods(type).keySet(),
                    this.beansWithListeners::contains)
                .check();
        }
    }

    private void register(Found listener) {
        ConfigurableBeanFactory factory = (this.beanFactory instanceof ConfigurableBeanFactory configurable)
                ? configurable : null;
        try {
            for (DelayedListener declared : listener.annotations()) {
                ListenerAnnotation annotation = new ListenerAnnotation(declared, factory);
                String system = annotation.system();
                DelayedListenerRegistry registry = (system != null) ? this.systems.apply(system)
                        : this.registry.getObject();
                register(registry, listener, handler(registry, listener, factory), annotation);
            }
        }
        catch (IllegalArgumentException ex) {
            throw listener.invalid(String.valueOf(ex.getMessage()), ex);
        }
    }

    private static HandlerMethodAdapter handler(DelayedListenerRegistry registry, Found listener,
            @Nullable ConfigurableBeanFactory factory) {
        Method invocable;
        try {
            invocable = AopUtils.selectInvocableMethod(listener.method(), listener.bean().getClass());
        }
        catch (IllegalStateException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
        return registry.handlers().create(listener.bean(), listener.method(), invocable, factory);
    }

    private void register(DelayedListenerRegistry registry, Found listener, HandlerMethodAdapter handler,
            ListenerAnnotation annotation) {
        List<QueueName> queues = annotation.queues();
        PayloadTypeAgreement.Reader reader = new PayloadTypeAgreement.Reader(listener.beanName(),
                InvalidListenerException.describe(listener.method()), handler.payloadType());
        PayloadTypeAgreement agreement = this.payloads.computeIfAbsent(registry, (key) -> new PayloadTypeAgreement());
        queues.forEach((queue) -> agreement.join(queue, reader));
        MessageHandler called = annotation.isTransactional()
                ? registry.handlers().transactional(handler, listener.method()) : handler;
        String given = annotation.id();
        String base = (given != null) ? given : listener.beanName() + "." + listener.method().getName();
        String id = base;
        for (int i = 2; !registry.register(container(registry, id, queues, called, annotation)); i++) {
            if (given != null) {
                throw new IllegalArgumentException("id must be unique, but another listener has '%s'".formatted(id));
            }
            id = base + "#" + i;
        }
    }

    private static QueueListenerContainer container(DelayedListenerRegistry registry, String id, List<QueueName> queues,
            MessageHandler handler, ListenerAnnotation annotation) {
        ListenerCounters counters = new ListenerCounters();
        MessageHandler observed = registry.handlers().observed(handler, id);
        List<PartitionBinding> listened = queues.stream()
            .map((queue) -> new PartitionBinding(id, Partition.first(queue),
                    annotation.settings(registry.defaults(queue)), observed, counters, registry.events(queue, id)))
            .toList();
        return new QueueListenerContainer(id, listened, counters);
    }

    /** Holds an annotated method with its annotations. */
    private record Found(Object bean, String beanName, Method method, List<DelayedListener> annotations) {

        InvalidListenerException invalid(String problem, @Nullable Throwable cause) {
            return new InvalidListenerException(this.beanName, InvalidListenerException.describe(this.method), problem,
                    cause);
        }

    }

}
