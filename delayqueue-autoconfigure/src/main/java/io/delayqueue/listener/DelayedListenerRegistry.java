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

import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.store.MessageEventListener;
import io.delayqueue.store.QueueEventListener;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of the application, by their ids. All there are once the application has
 * started, but for those of beans that are created later.
 * <p>
 * <strong>Threads.</strong> Any thread looks up. Registrations and the worker's start and
 * stop exclude each other, so that a late listener is started exactly once.
 */
public class DelayedListenerRegistry {

    private final Function<QueueName, ListenerSettings> defaults;

    private final HandlerMethodFactory handlers;

    private final MessageEventListener events;

    private volatile Map<String, QueueListenerContainer> containers = Map.of();

    private @Nullable ListenerRun run;

    private final List<Consumer<ListenerContainer>> observers = new ArrayList<>();

    /**
     * Creates a registry whose listeners tell nobody what they do.
     * @param defaults settings of a queue, for what the annotation does not say
     * @param handlers makes methods callable
     */
    public DelayedListenerRegistry(Function<QueueName, ListenerSettings> defaults, HandlerMethodFactory handlers) {
        this(defaults, handlers, MessageEventListener.NONE);
    }

    /**
     * Creates a registry.
     * @param defaults settings of a queue, for what the annotation does not say
     * @param handlers makes methods callable
     * @param events told of what the listeners do
     */
    public DelayedListenerRegistry(Function<QueueName, ListenerSettings> defaults, HandlerMethodFactory handlers,
            MessageEventListener events) {
        this.events = events;
        this.defaults = defaults;
        this.handlers = handlers;
    }

    /** The listener of that id, if there is one. */
    public Optional<ListenerContainer> listener(String id) {
        return Optional.ofNullable(this.containers.get(id));
    }

    /**
     * The listener of that id.
     * @throws IllegalArgumentException if there is none; names those there are
     */
    public ListenerContainer require(String id) {
        return listener(id).orElseThrow(() -> new IllegalArgumentException(
                "There is no listener '%s', only %s".formatted(id, this.containers.keySet())));
    }

    /** All listeners, in the order in which they were found. */
    public Collection<ListenerContainer> listeners() {
        return List.copyOf(this.containers.values());
    }

    /**
     * Tells of all listeners: of those there are at once, and of each that comes later.
     * @param observer called from any thread, while no listener can register
     */
    public synchronized void onRegistration(Consumer<ListenerContainer> observer) {
        this.containers.values().forEach(observer);
        this.observers.add(observer);
    }

    ListenerSettings defaults(QueueName queue) {
        return this.defaults.apply(queue);
    }

    QueueEventListener events(QueueName queue, String listenerId) {
        return this.events.of(queue, listenerId);
    }

    HandlerMethodFactory handlers() {
        return this.handlers;
    }

    /**
     * Adds a listener, and starts it if the application has started.
     * @return {@code false} if its id is taken
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

    /** The application starts; a stop may have overtaken that. */
    synchronized void attach(ListenerRun run) {
        if (run.isRetired()) {
            return;
        }
        this.run = run;
        this.containers.values().forEach((container) -> container.attach(run));
    }

    /**
     * The application stops: the run is not attached from now on. Another one may be, if
     * the application was started again already.
     */
    synchronized void detach(ListenerRun run) {
        run.retire();
        if (this.run == run) {
            this.run = null;
            this.containers.values().forEach(QueueListenerContainer::detach);
        }
    }

}
