package io.delayqueue.listener;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.store.MessageStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Resolves the attributes of one {@link DelayedListener}: placeholders, then SpEL
 * expressions, then the conversion to the type. Returns its queues, and the settings that
 * it overrides. Throws an {@link IllegalArgumentException} that names the attribute, its
 * value and the rule if one is invalid.
 */
final class ListenerAttributes {

    private final DelayedListener annotation;

    private final @Nullable ConfigurableBeanFactory beanFactory;

    private final AttributeResolver resolver;

    ListenerAttributes(DelayedListener annotation, @Nullable ConfigurableBeanFactory beanFactory) {
        this.annotation = annotation;
        this.beanFactory = beanFactory;
        this.resolver = new AttributeResolver(beanFactory);
    }

    @Nullable String id() {
        return this.resolver.text("id", this.annotation.id());
    }

    @Nullable String system() {
        return this.resolver.text("system", this.annotation.system());
    }

    List<QueueName> queues() {
        List<String> names = this.resolver.texts("queues", this.annotation.queues());
        if (names.isEmpty()) {
            throw new IllegalArgumentException(
                    "queues must name at least one queue, but was %s".formatted(List.of(this.annotation.queues())));
        }
        return ListenerDefinition.queues(names);
    }

    /**
     * Returns the error handler that the attribute names; {@code null} if it is empty.
     */
    @Nullable DelayedListenerErrorHandler errorHandler() {
        Object resolved = this.resolver.resolve("errorHandler", this.annotation.errorHandler());
        if (resolved instanceof DelayedListenerErrorHandler handler) {
            return handler;
        }
        String name = (resolved != null) ? resolved.toString().trim() : "";
        if (name.isEmpty()) {
            return null;
        }
        if (this.beanFactory == null || !this.beanFactory.containsBean(name)
                || !this.beanFactory.isTypeMatch(name, DelayedListenerErrorHandler.class)) {
            throw new IllegalArgumentException(
                    "errorHandler must name a bean of type DelayedListenerErrorHandler, but was '%s'".formatted(name));
        }
        return this.beanFactory.getBean(name, DelayedListenerErrorHandler.class);
    }

    /**
     * Returns the maximum number of messages of a batch; {@code null} for one message at
     * a time.
     */
    @Nullable Integer batchSize() {
        Integer size = this.resolver.integer("batchSize", this.annotation.batchSize());
        if (size != null && !this.annotation.batch()) {
            throw new IllegalArgumentException("batchSize must be empty if batch is false, but was %d".formatted(size));
        }
        return this.annotation.batch() ? or(size, MessageStore.BATCH_LIMIT) : null;
    }

    boolean isTransactional() {
        return this.annotation.transactional();
    }

    ListenerSettings settings(ListenerSettings defaults) {
        DelayedListener given = this.annotation;
        Integer concurrency = this.resolver.integer("concurrency", given.concurrency());
        Duration lease = this.resolver.duration("lease", given.lease());
        Duration timeout = this.resolver.duration("timeout", given.timeout());
        Integer maxAttempts = this.resolver.integer("maxAttempts", given.maxAttempts());
        Boolean autoStartup = this.resolver.bool("autoStartup", given.autoStartup());
        Set<Class<? extends Throwable>> noRetryFor = noRetryFor();
        return new ListenerSettings(or(concurrency, defaults.concurrency()), or(lease, defaults.lease()),
                (timeout == null) ? defaults.timeout() : (timeout.isZero() ? null : timeout),
                or(maxAttempts, defaults.maxAttempts()), defaults.maxLapses(), backoff(defaults.backoff()),
                defaults.expiryPolicy(), or(autoStartup, defaults.autoStartup()),
                noRetryFor.isEmpty() ? defaults.noRetryFor() : noRetryFor);
    }

    private BackoffPolicy backoff(BackoffPolicy defaults) {
        Backoff given = this.annotation.backoff();
        Duration initial = this.resolver.duration("backoff.initial", given.initial());
        Double multiplier = this.resolver.decimal("backoff.multiplier", given.multiplier());
        Duration max = this.resolver.duration("backoff.max", given.max());
        Double jitter = this.resolver.decimal("backoff.jitter", given.jitter());
        return new BackoffPolicy(or(initial, defaults.initial()), or(multiplier, defaults.multiplier()),
                or(max, defaults.max()), or(jitter, defaults.jitter()));
    }

    private Set<Class<? extends Throwable>> noRetryFor() {
        Set<Class<? extends Throwable>> types = new LinkedHashSet<>(List.of(this.annotation.noRetryFor()));
        for (String name : this.resolver.texts("noRetryForClassName", this.annotation.noRetryForClassName())) {
            types.add(throwable(name));
        }
        return types;
    }

    private Class<? extends Throwable> throwable(String name) {
        try {
            return ClassUtils.forName(name, (this.beanFactory != null) ? this.beanFactory.getBeanClassLoader() : null)
                .asSubclass(Throwable.class);
        }
        catch (ClassNotFoundException | LinkageError | ClassCastException ex) {
            throw new IllegalArgumentException(
                    "noRetryForClassName must name a class that can be loaded and is a Throwable, but was '%s'"
                        .formatted(name),
                    ex);
        }
    }

    private static <T> T or(@Nullable T given, T otherwise) {
        return (given != null) ? given : otherwise;
    }

}
