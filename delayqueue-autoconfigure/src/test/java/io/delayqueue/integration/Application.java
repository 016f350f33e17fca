package io.delayqueue.integration;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;

import org.springframework.context.ConfigurableApplicationContext;

/** An application that runs, and the beans that tests ask it for. */
record Application(ConfigurableApplicationContext context) implements AutoCloseable {

    DelayQueueOperations queue() {
        return this.context.getBean(DelayQueueOperations.class);
    }

    OrderHandler handler() {
        return this.context.getBean(OrderHandler.class);
    }

    DelayedListenerLifecycle worker() {
        return this.context.getBean(DelayedListenerLifecycle.class);
    }

    ListenerContainer listener() {
        return this.context.getBean(DelayedListenerRegistry.class).require(OrderHandler.LISTENER);
    }

    @Override
    public void close() {
        this.context.close();
    }

}
