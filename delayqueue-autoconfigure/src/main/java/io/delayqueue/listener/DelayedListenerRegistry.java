package io.delayqueue.listener;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.listener.poll.ListenerCounters;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.PartitionBinding;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

/**
 * Holds the listeners of the application by their ids. Complete once the application has
 * started, except for listeners of beans that are created later.
 * <p>
 * <strong>Threads.</strong> Any thread may read. Registrations exclude the start and stop
 * of a run, so that a late listener is started exactly once.
 */
public class DelayedListenerRegistry {

    private final Function<QueueName, ListenerSettings> defaults;

    private final HandlerMethodFactory handlers;

    private final MessageEventRecorderFactory events;

    private volatile Map<String, QueueListenerContainer> containers = Map.of();

    private @Nullable ListenerRun run;

    private final List<Consumer<ListenerContainer>> observers = new ArrayList<>();

    /**
     * Creates a registry.
     * @param defaults returns the settings of a queue, for attributes that are not set
     * @param handlers creates handlers
     * @param events receives the events of the listeners
     */
    public DelayedListenerRegistry(Function<QueueName, ListenerSettings> defaults, HandlerMethodFactory handlers,
            MessageEventRecorderFactory events) {
        this.events = events;
        this.defaults = defaults;
        this.handlers = handlers;
    }

    /** Returns the listener with the id, if there is one. */
    public Optional<ListenerContainer> listener(String id) {
        return Optional.ofNullable(this.containers.get(id));
    }

    /**
     * Returns the listener with the id.
     * @throws IllegalArgumentException if there is none; lists the known ids
     */
    public ListenerContainer require(String id) {
        return listener(id).orElseThrow(() -> new IllegalArgumentException(
                "There is no listener '%s', only %s".formatted(id, this.containers.keySet())));
    }

    /** Returns all listeners, in the order of their registration. */
    public Collection<ListenerContainer> listeners() {
        return List.copyOf(this.containers.values());
    }

    /**
     * Notifies the observer of all current listeners at once, and of each later one.
     * @param observer called from any thread, while no listener can register
     */
    public synchronized void onRegistration(Consumer<ListenerContainer> observer) {
        this.containers.values().forEach(observer);
        this.observers.add(observer);
    }

    ListenerSettings defaults(QueueName queue) {
        return this.defaults.apply(queue);
    }

    MessageEventRecorder events(QueueName queue, String listenerId) {
        return this.events.of(queue, listenerId);
    }

    HandlerMethodFactory handlers() {
        return this.handlers;
    }

    /**
     * Adds a listener that is not an annotated method, and starts it if the application
     * has started. It must be the only one of the queue in this application.
     * @param settings changes the configured settings of the queue
     * @throws IllegalStateException if another listener handles the queue or has the id
     */
    public synchronized void register(String id, QueueName queue, MessageHandler handler,
            UnaryOperator<ListenerSettings> settings) {
        ListenerCounters counters = new ListenerCounters();
        PartitionBinding binding = new PartitionBinding(id, Partition.first(queue), settings.apply(defaults(queue)),
                this.handlers.observed(handler, id), counters, events(queue, id));
        for (ListenerContainer other : this.containers.values()) {
            if (other.queues().contains(queue.value())) {
                throw new IllegalStateException(
                        ("Listener '%s' cannot handle queue '%s', because listener '%s' handles it too: each message "
                                + "would go to one of the two")
                            .formatted(id, queue, other.id()));
            }
        }
        if (!register(new QueueListenerContainer(id, List.of(binding), counters))) {
            throw new IllegalStateException("There is already a listener with the id '%s'".formatted(id));
        }
    }

    /**
     * Adds a listener, and starts it if the application has started.
     * @return {@code false} if its id is in use
     */
    synchronized boolean register(QueueListenerContainer container) {
        Map<String, QueueListenerContainer> extended = new LinkedHashMap<>(this.containers);
        if (extended.putIfAbsent(container.id(), container) != null) {
            return false;
        }
        this.containers = Collections.unmodifiableMap(extended);
        if (this.run != null) {
            container.attach(this.run);
        }
        this.observers.forEach((observer) -> observer.accept(container));
        return true;
    }

    /** Starts the listeners in a run, unless a stop has already retired it. */
    synchronized void attach(ListenerRun run) {
        if (run.isRetired()) {
            return;
        }
        this.run = run;
        this.containers.values().forEach((container) -> container.attach(run));
    }

    /**
     * Retires a run and ends its claiming, without waiting. Does not detach the next run,
     * if the application was already restarted.
     */
    synchronized void detach(ListenerRun run) {
        run.retire();
        if (this.run == run) {
            this.run = null;
            this.containers.values().forEach(QueueListenerContainer::detach);
        }
    }

}
