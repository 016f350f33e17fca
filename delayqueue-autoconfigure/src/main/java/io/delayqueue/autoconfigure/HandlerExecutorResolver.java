package io.delayqueue.autoconfigure;

import java.util.List;
import java.util.concurrent.Executor;

import io.delayqueue.listener.poll.HandlerExecution;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;

/**
 * Chooses how handlers are executed: the executor that
 * {@code delayqueue.listener.executor} names, and all {@link TaskDecorator} beans, as
 * Boot composes them for its own executors.
 */
final class HandlerExecutorResolver {

    /** Follows the prefix of the properties. */
    private static final String PROPERTY = ".listener.executor";

    private HandlerExecutorResolver() {
    }

    /**
     * Returns the execution of handlers.
     * @param prefix the prefix of the properties, for the exception
     * @param executor the value of the property; {@code null} if it is not set
     */
    static HandlerExecution among(BeanFactory beans, String prefix, @Nullable String executor,
            ObjectProvider<TaskDecorator> decorators) {
        return new HandlerExecution((executor != null) ? named(executor, prefix, beans) : null,
                composed(decorators.orderedStream().toList()));
    }

    private static @Nullable TaskDecorator composed(List<TaskDecorator> decorators) {
        return switch (decorators.size()) {
            case 0 -> null;
            case 1 -> decorators.get(0);
            default -> new CompositeTaskDecorator(decorators);
        };
    }

    private static Executor named(String name, String prefix, BeanFactory beans) {
        String property = prefix + PROPERTY;
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, Executor.class)) {
            throw new InvalidConfigurationPropertyValueException(property, name,
                    "There is no Executor bean of that name.");
        }
        Executor executor = beans.getBean(name, Executor.class);
        if (executor instanceof SyncTaskExecutor) {
            throw new InvalidConfigurationPropertyValueException(property, name,
                    "It runs tasks in the calling thread, which may be that of the connection to Redis.");
        }
        if (executor instanceof SimpleAsyncTaskExecutor throttled && throttled.isThrottleActive()) {
            throw new InvalidConfigurationPropertyValueException(property, name,
                    ("It has a concurrency limit, for which callers wait, and these include the thread of the "
                            + "connection to Redis. Remove the limit, and set %s.listener.concurrency instead.")
                        .formatted(prefix));
        }
        return executor;
    }

}
