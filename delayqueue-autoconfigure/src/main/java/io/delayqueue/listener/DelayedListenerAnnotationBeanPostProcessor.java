package io.delayqueue.listener;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListeners;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.DelayedSchedules;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.listener.handler.HandlerMethodAdapter;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.InvalidListenerException;
import io.delayqueue.store.schedule.LocalSchedules;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds methods with {@link DelayedListener} or {@link DelayedSchedule}, and registers a
 * listener or declares a schedule for each annotation, once all singletons exist; also
 * registers the listeners of each {@link DelayedListenerConfigurer}. The listeners of a
 * lazy bean are registered, and started, when the bean is created. Beans that are not
 * singletons cannot have listeners: each instance would be one more listener.
 * <p>
 * Has no order, so that the proxies of all ordered post-processors exist before. In a
 * cycle of beans, this object receives the first one without its proxy. The listeners of
 * that bean are called through the proxy if the bean exists at the end of the start, and
 * otherwise without it.
 * <p>
 * <strong>Threads.</strong> Beans may be created on several threads.
 */
public final class DelayedListenerAnnotationBeanPostProcessor
        implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton {

    private final ObjectProvider<DelayedListenerRegistry> registry;

    private final Function<String, DelayedListenerRegistry> systems;

    private final Function<@Nullable String, LocalSchedules> schedules;

    private final Set<Class<?>> nonAnnotatedClasses = ConcurrentHashMap.newKeySet();

    private final List<Found> found = new ArrayList<>();

    private final Set<String> beansWithListeners = ConcurrentHashMap.newKeySet();

    private @Nullable BeanFactory beanFactory;

    private boolean complete;

    /**
     * Creates a post-processor.
     * @param registry receives the listeners; resolved at the first registration, so that
     * this bean does not create others too early
     * @param systems finds the registry of an additional queue system by its name, or
     * throws an {@link IllegalArgumentException}
     * @param schedules finds the schedules of an additional queue system by its name, or
     * for {@code null} those of the application
     */
    public DelayedListenerAnnotationBeanPostProcessor(ObjectProvider<DelayedListenerRegistry> registry,
            Function<String, DelayedListenerRegistry> systems, Function<@Nullable String, LocalSchedules> schedules) {
        this.registry = registry;
        this.systems = systems;
        this.schedules = schedules;
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
        // Targets of a scoped proxy come and go; the proxy itself listens.
        boolean infrastructure = (bean instanceof AopInfrastructureBean && !(bean instanceof ScopedObject))
                || ScopedProxyUtils.isScopedTarget(beanName);
        if (infrastructure || this.nonAnnotatedClasses.contains(targetClass) || !AnnotationUtils
            .isCandidateClass(targetClass, Set.of(DelayedListener.class, DelayedSchedule.class))) {
            return bean;
        }
        Map<Method, Set<DelayedListener>> methods = listenerMethods(targetClass);
        if (methods.isEmpty()) {
            this.nonAnnotatedClasses.add(targetClass);
            return bean;
        }
        this.beansWithListeners.add(beanName);
        List<Found> listeners = new ArrayList<>();
        methods.forEach((method, all) -> listeners.add(new Found(bean, beanName, method, List.copyOf(all))));
        add(listeners);
        return bean;
    }

    private static Map<Method, Set<DelayedListener>> listenerMethods(Class<?> type) {
        return MethodIntrospector.selectMethods(type,
                (MethodIntrospector.MetadataLookup<Set<DelayedListener>>) DelayedListenerAnnotationBeanPostProcessor::annotations);
    }

    private static @Nullable Set<DelayedListener> annotations(Method method) {
        Set<DelayedListener> annotations = AnnotatedElementUtils.getMergedRepeatableAnnotations(method,
                DelayedListener.class, DelayedListeners.class);
        if (!annotations.isEmpty()) {
            return annotations;
        }
        String[] queues = schedules(method).stream().map(DelayedSchedule::queue).distinct().toArray(String[]::new);
        return (queues.length == 0) ? null : Set.of(AnnotationUtils
            .synthesizeAnnotation(Map.of("value", queues, "queues", queues), DelayedListener.class, method));
    }

    private static Set<DelayedSchedule> schedules(Method method) {
        return AnnotatedElementUtils.getMergedRepeatableAnnotations(method, DelayedSchedule.class,
                DelayedSchedules.class);
    }

    /** Adds the listeners and schedules of a bean, all or none. */
    private void add(List<Found> listeners) {
        Found first = listeners.get(0);
        if (this.beanFactory != null && this.beanFactory.containsBean(first.beanName())
                && !this.beanFactory.isSingleton(first.beanName())) {
            throw first.invalid("the bean must be a singleton, or each of its instances would be one more listener",
                    null);
        }
        // Beans may be created while the last ones are registered.
        synchronized (this.found) {
            if (!this.complete) {
                this.found.addAll(listeners);
                return;
            }
        }
        List<Runnable> removals = new ArrayList<>();
        try {
            listeners.forEach((listener) -> register(listener, removals));
        }
        catch (RuntimeException | Error ex) {
            // The bean is not created, and the next attempt creates another one.
            removals.forEach((removal) -> run(removal, ex));
            throw ex;
        }
    }

    /** Runs a removal, and adds its failure to that of the bean. */
    private static void run(Runnable removal, Throwable failure) {
        try {
            removal.run();
        }
        catch (RuntimeException | Error ex) {
            failure.addSuppressed(ex);
        }
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<Found> all;
        synchronized (this.found) {
            all = List.copyOf(this.found);
            this.found.clear();
            this.complete = true;
        }
        List<Runnable> removals = new ArrayList<>();
        all.forEach((listener) -> register(exposed(listener), removals));
        if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
            beans.getBeanProvider(DelayedListenerConfigurer.class)
                .orderedStream()
                .forEach((configurer) -> configurer.configureDelayedListeners(this.registry.getObject()));
            new UnregisteredListenerDetector(beans, (type) -> listenerMethods(type).keySet(),
                    this.beansWithListeners::contains)
                .check();
        }
    }

    /**
     * Returns the listener of the proxy if its bean has one that was created early. In a
     * cycle of beans, the others receive that proxy, and this object the bean itself.
     */
    private Found exposed(Found listener) {
        String name = listener.beanName();
        Object exposed = null;
        if (this.beanFactory instanceof ConfigurableBeanFactory beans && beans.containsSingleton(name)) {
            exposed = beans.getSingleton(name);
        }
        // A factory bean has the name of its product.
        Object target = exposed;
        while (target != null && target != listener.bean()) {
            target = AopProxyUtils.getSingletonTarget(target);
        }
        if (exposed == null || target == null) {
            return listener;
        }
        return new Found(exposed, name, listener.method(), listener.annotations());
    }

    /**
     * Registers the listeners of a method, and declares its schedules.
     * @param removals receives an action for each listener and each schedule that removes
     * it again
     */
    private void register(Found listener, List<Runnable> removals) {
        ConfigurableBeanFactory factory = (this.beanFactory instanceof ConfigurableBeanFactory configurable)
                ? configurable : null;
        try {
            List<ListenerAttributes> attributes = new ArrayList<>();
            for (DelayedListener declared : listener.annotations()) {
                ListenerAttributes annotation = new ListenerAttributes(declared, factory);
                attributes.add(annotation);
                String system = annotation.system();
                DelayedListenerRegistry registry = (system != null) ? this.systems.apply(system)
                        : this.registry.getObject();
                String id = register(registry, listener, handler(registry.handlers(), listener, annotation, factory),
                        annotation);
                removals.add(() -> registry.unregister(id));
            }
            for (DelayedSchedule declared : schedules(listener.method())) {
                try {
                    declare(new ScheduleAttributes(declared, factory), attributes, removals);
                }
                catch (IllegalArgumentException ex) {
                    throw new IllegalArgumentException(
                            "@DelayedSchedule '%s': %s".formatted(declared.name(), ex.getMessage()), ex);
                }
            }
        }
        catch (IllegalArgumentException | IllegalStateException ex) {
            throw listener.invalid(String.valueOf(ex.getMessage()), ex);
        }
    }

    private void declare(ScheduleAttributes schedule, List<ListenerAttributes> listeners, List<Runnable> removals) {
        QueueName given = schedule.queue();
        List<QueueName> all = listeners.stream().flatMap((listener) -> listener.queues().stream()).toList();
        if (given == null && all.size() != 1) {
            throw new IllegalArgumentException(
                    "queue is needed, as the listener has several, and must be one of them: " + all);
        }
        QueueName queue = (given != null) ? given : all.get(0);
        ListenerAttributes owner = listeners.stream()
            .filter((listener) -> listener.queues().contains(queue))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(
                    "queue must be one of those of the listener, which are %s, but was '%s'".formatted(all, queue)));
        LocalSchedules system = this.schedules.apply(owner.system());
        ScheduleDefinition definition = schedule.definition();
        system.declare(queue, definition, schedule.payload());
        removals.add(() -> system.withdraw(queue, definition.name()));
    }

    private static HandlerMethodAdapter handler(HandlerMethodFactory handlers, Found listener,
            ListenerAttributes annotation, @Nullable ConfigurableBeanFactory factory) {
        Integer batchSize = annotation.batchSize();
        return (batchSize != null) ? handlers.createBatch(listener.bean(), listener.method(), batchSize)
                : handlers.create(listener.bean(), listener.method(), factory);
    }

    /** Registers a listener, and returns its id. */
    private static String register(DelayedListenerRegistry registry, Found listener, HandlerMethodAdapter handler,
            ListenerAttributes annotation) {
        String given = annotation.id();
        String base = (given != null) ? given : listener.beanName() + "." + listener.method().getName();
        ListenerDefinition definition = new ListenerDefinition(base, annotation.queues(),
                annotation.isTransactional() ? registry.handlers().transactional(handler, annotation.queues())
                        : handler,
                annotation::settings, annotation.errorHandler(), listener.reader(handler.payloadType()));
        for (int i = 2; registry.register(definition) == null; i++) {
            if (given != null) {
                throw new IllegalArgumentException("id must be unique, but another listener has '%s'".formatted(given));
            }
            definition = definition.withId(base + "#" + i);
        }
        return definition.id();
    }

    /** Holds an annotated method with its annotations. */
    private record Found(Object bean, String beanName, Method method, List<DelayedListener> annotations) {

        PayloadTypeAgreement.Reader reader(@Nullable Type payloadType) {
            return new PayloadTypeAgreement.Reader(
                    "method '%s' of bean '%s'".formatted(InvalidListenerException.describe(this.method), this.beanName),
                    payloadType);
        }

        InvalidListenerException invalid(String problem, @Nullable Throwable cause) {
            return new InvalidListenerException(this.beanName, InvalidListenerException.describe(this.method), problem,
                    cause);
        }

    }

}
