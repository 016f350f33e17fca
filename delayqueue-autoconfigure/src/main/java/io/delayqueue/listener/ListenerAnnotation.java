package io.delayqueue.listener;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.RetryPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/** Reads the queues of one annotation, and the settings that it overrides. */
final class ListenerAnnotation {

    private final DelayedListener annotation;

    private final AttributeResolver attributes;

    private final @Nullable ClassLoader classLoader;

    ListenerAnnotation(DelayedListener annotation, AttributeResolver attributes, @Nullable ClassLoader classLoader) {
        this.annotation = annotation;
        this.attributes = attributes;
        this.classLoader = classLoader;
    }

    @Nullable String id() {
        return this.attributes.text("id", this.annotation.id());
    }

    @Nullable String system() {
        return this.attributes.text("system", this.annotation.system());
    }

    List<QueueName> queues() {
        List<QueueName> queues = new ArrayList<>();
        Set<QueueName> seen = new HashSet<>();
        for (String name : this.attributes.texts("queues", this.annotation.queues())) {
            QueueName queue = new QueueName(name);
            if (!seen.add(queue)) {
                throw new IllegalArgumentException("queues must differ, but '%s' is there twice".formatted(name));
            }
            queues.add(queue);
        }
        if (queues.isEmpty()) {
            throw new IllegalArgumentException(
                    "queues must name at least one queue, but was %s".formatted(List.of(this.annotation.queues())));
        }
        return queues;
    }

    ListenerSettings settings(ListenerSettings defaults) {
        DelayedListener given = this.annotation;
        Integer concurrency = this.attributes.integer("concurrency", given.concurrency());
        Duration lease = this.attributes.duration("lease", given.lease());
        Duration timeout = this.attributes.duration("timeout", given.timeout());
        Integer maxAttempts = this.attributes.integer("maxAttempts", given.maxAttempts());
        Boolean autoStartup = this.attributes.bool("autoStartup", given.autoStartup());
        Set<Class<? extends Throwable>> noRetryFor = noRetryFor();
        return new ListenerSettings(or(concurrency, defaults.concurrency()), or(lease, defaults.lease()),
                (timeout == null) ? defaults.timeout() : (timeout.isZero() ? null : timeout),
                or(maxAttempts, defaults.maxAttempts()), defaults.maxLapses(), backoff(defaults.retryPolicy()),
                defaults.expiredPolicy(), or(autoStartup, defaults.autoStartup()),
                noRetryFor.isEmpty() ? defaults.noRetryFor() : noRetryFor);
    }

    private RetryPolicy backoff(RetryPolicy defaults) {
        Backoff given = this.annotation.backoff();
        Duration initial = this.attributes.duration("backoff.initial", given.initial());
        Double multiplier = this.attributes.decimal("backoff.multiplier", given.multiplier());
        Duration max = this.attributes.duration("backoff.max", given.max());
        Double jitter = this.attributes.decimal("backoff.jitter", given.jitter());
        return new RetryPolicy(or(initial, defaults.initial()), or(multiplier, defaults.multiplier()),
                or(max, defaults.max()), or(jitter, defaults.jitter()));
    }

    private Set<Class<? extends Throwable>> noRetryFor() {
        Set<Class<? extends Throwable>> types = new LinkedHashSet<>(List.of(this.annotation.noRetryFor()));
        for (String name : this.attributes.texts("noRetryForClassName", this.annotation.noRetryForClassName())) {
            types.add(throwable(name));
        }
        return types;
    }

    private Class<? extends Throwable> throwable(String name) {
        try {
            return ClassUtils.forName(name, this.classLoader).asSubclass(Throwable.class);
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
