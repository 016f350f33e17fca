package io.delayqueue.test.autoconfigure;

import java.time.Clock;

import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.test.VirtualTimeRuntime;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Replaces the beans through which time and messages pass. */
final class VirtualTimePostProcessor implements BeanPostProcessor {

    private final ObjectProvider<VirtualTimeRuntime> runtime;

    private final ObjectProvider<DelayQueueTesterProperties> properties;

    private final ObjectProvider<QueueRegistry> queues;

    VirtualTimePostProcessor(ObjectProvider<VirtualTimeRuntime> runtime,
            ObjectProvider<DelayQueueTesterProperties> properties, ObjectProvider<QueueRegistry> queues) {
        this.runtime = runtime;
        this.properties = properties;
        this.queues = queues;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof StoreComponents components) {
            QueueRegistry registry = this.queues.getIfAvailable(() -> QueueRegistry.NONE);
            return runtime().components(components, new QueueRegistrar(registry, runtime().registrarTime()));
        }
        if (bean instanceof PartitionLayoutStore layouts) {
            return runtime().layouts(layouts);
        }
        if (bean instanceof HandlerMethodFactory handlers) {
            return runtime().handlers(handlers);
        }
        if (bean instanceof SharedListenerSettings settings) {
            return runtime().settings(settings);
        }
        if (bean instanceof Clock clock && this.properties.getObject().joinClock()) {
            return runtime().clock(clock.getZone());
        }
        return bean;
    }

    private VirtualTimeRuntime runtime() {
        return this.runtime.getObject();
    }

}
