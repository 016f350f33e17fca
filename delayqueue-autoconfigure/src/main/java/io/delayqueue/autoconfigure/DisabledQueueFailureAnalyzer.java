package io.delayqueue.autoconfigure;

import java.util.Set;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.template.DelayQueueTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Suggests {@code delayqueue.enabled} if an application injects a bean of the delay queue
 * but has disabled it. Runs before Boot's analyzer, which no longer knows the conditions
 * after the context has failed.
 */
@Order(0)
final class DisabledQueueFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {

    private static final Set<Class<?>> INJECTED = Set.of(DelayQueueTemplate.class, DelayQueueOperations.class,
            DelayQueueInspector.class, DelayQueueIntegrityChecker.class, DelayedListenerRegistry.class,
            DelayedListenerLifecycle.class, EnvelopeCodec.class, DelayQueueSystemBuilder.class);

    private final Environment environment;

    DisabledQueueFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause,
            @Nullable String description) {
        Class<?> type = cause.getBeanType();
        if (type == null || !INJECTED.contains(type) || cause.getNumberOfBeansFound() > 0
                || this.environment.getProperty("delayqueue.enabled", Boolean.class, true)) {
            return null;
        }
        return new FailureAnalysis(
                "%s required a bean of type '%s', but delayqueue.enabled is false, so there are no beans of the delay queue"
                    .formatted((description != null) ? description : "A component", type.getName()),
                "Remove delayqueue.enabled or set it to true; for tests without Redis, delayqueue.store=memory keeps "
                        + "messages in the process. Code that can do without the queue may inject an ObjectProvider<"
                        + type.getSimpleName() + ">.",
                cause);
    }

}
