package io.delayqueue.autoconfigure;

import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.listener.ActivityReporter;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.NodeHeartbeat;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Holds the queues of a further Redis or namespace: a template that sends to them, and
 * the listeners that name this bean as their
 * {@link io.delayqueue.DelayedListener#system() system}. Created by a
 * {@link DelayQueueSystemBuilder}. As a bean it starts and stops with the application,
 * and closes its connections, but not their factory.
 * <p>
 * Meters cover the queues of all systems, by name; health, the Actuator endpoint, the
 * HTTP API and the dashboard cover only the application's own queues.
 * <p>
 * <strong>Threads.</strong> Any thread may call the accessors; the returned objects are
 * thread-safe.
 */
public class DelayQueueSystem implements SmartLifecycle, AutoCloseable {

    private final DelayQueueSystemStore store;

    private final UnknownQueueGuard known;

    private final DelayQueueTemplate template;

    private final DelayedListenerRegistry listeners;

    private final DelayedListenerLifecycle worker;

    DelayQueueSystem(DelayQueueSystemBuilder builder, DelayQueueSystemStore store) {
        this.store = store;
        this.known = new UnknownQueueGuard(builder.settings(), () -> Stream.of(listeners()), null);
        this.template = new DelayQueueTemplate(store.components(), builder.codec(),
                builder.settings().templateSettings(builder.observations(), this.known), builder.context(),
                System::nanoTime);
        this.listeners = new DelayedListenerRegistry(builder.settings()::listenerSettings, builder.handlers(),
                store.components().events(), builder::errorHandler);
        this.worker = new DelayedListenerLifecycle(store.components(), this.listeners, builder.context(),
                builder.runtimeSettings(),
                new NodeHeartbeat(store.nodes(), NodeHeartbeat.thisProcess(builder.application()),
                        this.listeners::listeners, List::of, System::nanoTime,
                        builder.settings().listener().overdueAfter(), new ActivityReporter(store.activity(),
                                this.listeners::listeners, store.backlogs(), System::nanoTime)::report));
    }

    static DelayQueueSystem named(String name, BeanFactory beans) {
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, DelayQueueSystem.class)) {
            throw new IllegalArgumentException(
                    "system must name a bean of type DelayQueueSystem, but was '%s'".formatted(name));
        }
        return beans.getBean(name, DelayQueueSystem.class);
    }

    /** Returns the template that sends to the queues of this system. */
    public DelayQueueTemplate template() {
        return this.template;
    }

    /** Returns the inspector of its queues. */
    public DelayQueueInspector inspector() {
        return this.store.inspector();
    }

    /** Returns the integrity checker of its store. */
    public DelayQueueIntegrityChecker integrityChecker() {
        return this.store.integrityChecker();
    }

    /** Returns the listeners of this system, whose ids are unique in it. */
    public DelayedListenerRegistry listeners() {
        return this.listeners;
    }

    LocalSchedules schedules() {
        return this.store.components().schedules();
    }

    /**
     * Checks the server and starts the listeners. An unavailable server does not fail the
     * start: the listeners begin when it is back.
     * @throws RuntimeException if the server is not suitable for messages
     */
    @Override
    public void start() {
        this.known.complete();
        this.store.start();
        this.worker.start();
    }

    /**
     * Stops the listeners like the application's own ones, and waits until they have
     * stopped.
     */
    @Override
    public void stop() {
        this.worker.stop();
        this.store.stop();
    }

    @Override
    public void stop(Runnable callback) {
        this.worker.stop(() -> {
            try {
                this.store.stop();
            }
            finally {
                callback.run();
            }
        });
    }

    @Override
    public boolean isRunning() {
        return this.worker.isRunning();
    }

    @Override
    public int getPhase() {
        return this.worker.getPhase();
    }

    /** Stops, and closes the connections. Nothing can be sent afterwards. */
    @Override
    public void close() {
        if (isRunning()) {
            stop();
        }
        this.store.close();
    }

}
