package io.delayqueue.listener;

import java.lang.reflect.Array;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.BackoffPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Reads the queues of one annotation, and the settings that it overrides. Resolves each
 * attribute: placeholders, then expressions, then the conversion to the type. Throws an
 * {@link IllegalArgumentException} that names the attribute, its value and the rule if
 * one is invalid.
 */
final class ListenerAnnotation {

    private final DelayedListener annotation;

    private final @Nullable ConfigurableBeanFactory beanFactory;

    ListenerAnnotation(DelayedListener annotation, @Nullable ConfigurableBeanFactory beanFactory) {
        this.annotation = annotation;
        this.beanFactory = beanFactory;
    }

    @Nullable String id() {
        return text("id", this.annotation.id());
    }

    @Nullable String system() {
        return text("system", this.annotation.system());
    }

    List<QueueName> queues() {
        List<QueueName> queues = new ArrayList<>();
        Set<QueueName> seen = new HashSet<>();
        for (String name : texts("queues", this.annotation.queues())) {
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

    boolean isTransactional() {
        return this.annotation.transactional();
    }

    ListenerSettings settings(ListenerSettings defaults) {
        DelayedListener given = this.annotation;
        Integer concurrency = integer("concurrency", given.concurrency());
        Duration lease = duration("lease", given.lease());
        Duration timeout = duration("timeout", given.timeout());
        Integer maxAttempts = integer("maxAttempts", given.maxAttempts());
        Boolean autoStartup = bool("autoStartup", given.autoStartup());
        Set<Class<? extends Throwable>> noRetryFor = noRetryFor();
        return new ListenerSettings(or(concurrency, defaults.concurrency()), or(lease, defaults.lease()),
                (timeout == null) ? defaults.timeout() : (timeout.isZero() ? null : timeout),
                or(maxAttempts, defaults.maxAttempts()), defaults.maxLapses(), backoff(defaults.backoff()),
                defaults.expiryPolicy(), or(autoStartup, defaults.autoStartup()),
                noRetryFor.isEmpty() ? defaults.noRetryFor() : noRetryFor);
    }

    private BackoffPolicy backoff(BackoffPolicy defaults) {
        Backoff given = this.annotation.backoff();
        Duration initial = duration("backoff.initial", given.initial());
        Double multiplier = decimal("backoff.multiplier", given.multiplier());
        Duration max = duration("backoff.max", given.max());
        Double jitter = decimal("backoff.jitter", given.jitter());
        return new BackoffPolicy(or(initial, defaults.initial()), or(multiplier, defaults.multiplier()),
                or(max, defaults.max()), or(jitter, defaults.jitter()));
    }

    private Set<Class<? extends Throwable>> noRetryFor() {
        Set<Class<? extends Throwable>> types = new LinkedHashSet<>(List.of(this.annotation.noRetryFor()));
        for (String name : texts("noRetryForClassName", this.annotation.noRetryForClassName())) {
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

    private @Nullable String text(String attribute, String value) {
        Object resolved = resolve(attribute, value);
        String text = (resolved != null) ? resolved.toString().trim() : "";
        return text.isEmpty() ? null : text;
    }

    private @Nullable Integer integer(String attribute, String value) {
        return convert(attribute, value, "a whole number", Integer::valueOf);
    }

    private @Nullable Double decimal(String attribute, String value) {
        return convert(attribute, value, "a number", Double::valueOf);
    }

    private @Nullable Boolean bool(String attribute, String value) {
        return convert(attribute, value, "true or false", (text) -> {
            Assert.isTrue(text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false"), text);
            return Boolean.valueOf(text);
        });
    }

    private @Nullable Duration duration(String attribute, String value) {
        return convert(attribute, value, "a duration such as 500ms, 30s or PT1M",
                DurationFormatterUtils::detectAndParse);
    }

    private <T> @Nullable T convert(String attribute, String value, String rule, Function<String, T> conversion) {
        String text = text(attribute, value);
        try {
            return (text != null) ? conversion.apply(text) : null;
        }
        catch (IllegalArgumentException | ArithmeticException ex) {
            throw new IllegalArgumentException("%s must be %s, but was '%s'%s".formatted(attribute, rule, text,
                    value.equals(text) ? "" : " (from '%s')".formatted(value)), ex);
        }
    }

    /** Returns all values of a list, each element of which may yield several. */
    private List<String> texts(String attribute, String[] values) {
        List<String> texts = new ArrayList<>();
        for (String value : values) {
            flatten(resolve(attribute, value), texts);
        }
        return texts;
    }

    private static void flatten(@Nullable Object value, List<String> texts) {
        if (value instanceof Iterable<?> elements) {
            elements.forEach((element) -> flatten(element, texts));
        }
        else if (value != null && value.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(value); i++) {
                flatten(Array.get(value, i), texts);
            }
        }
        else if (value != null) {
            texts.addAll(List.of(StringUtils.tokenizeToStringArray(value.toString(), ",")));
        }
    }

    private @Nullable Object resolve(String attribute, String value) {
        if (this.beanFactory == null || value.isEmpty()) {
            return value;
        }
        try {
            String embedded = this.beanFactory.resolveEmbeddedValue(value);
            BeanExpressionResolver expressions = this.beanFactory.getBeanExpressionResolver();
            return (expressions != null)
                    ? expressions.evaluate(embedded, new BeanExpressionContext(this.beanFactory, null)) : embedded;
        }
        catch (RuntimeException ex) {
            throw new IllegalArgumentException(
                    "%s '%s' cannot be resolved: %s".formatted(attribute, value, ex.getMessage()), ex);
        }
    }

}
