package io.delayqueue.listener;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.listener.poll.ListenerCounters;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.PartitionBinding;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

/**
 * Holds the listeners of the application by their ids. Once the application has started
 * it contains those of all beans that exist. More are added for beans that are created
 * later, and by {@link #register(DelayedListenerEndpoint)}.
 * <p>
 * <strong>Threads.</strong> Any thread may call all methods, even a handler of a listener
 * that is removed. Registrations exclude the start and stop of a run, so that a late
 * listener is started exactly once.
 *
 * @see ListenerContainer
 */
public class DelayedListenerRegistry {

    private final Function<QueueName, ListenerSettings> defaults;

    private final HandlerMethodFactory handlers;

    private final MessageEventRecorderFactory events;

    private final Supplier<@Nullable DelayedListenerErrorHandler> errorHandler;

    private volatile Map<String, DefaultListenerContainer> containers = Map.of();

    /** The queues of all listeners. */
    private volatile Set<String> queues = Set.of();

    /** The payload types of listeners that may share queues with others, by their ids. */
    private final Map<String, PayloadTypeAgreement.Reader> readers = new HashMap<>();

    private final PayloadTypeAgreement payloads = new PayloadTypeAgreement();

    private @Nullable ListenerRun run;

    private final List<Consumer<ListenerContainer>> observers = new ArrayList<>();

    private final List<Consumer<ListenerContainer>> removalObservers = new ArrayList<>();

    /** Creates a registry without an error handler of the application. */
    public DelayedListenerRegistry(Function<QueueName, ListenerSettings> defaults, HandlerMethodFactory handlers,
            MessageEventRecorderFactory events) {
        this(defaults, handlers, events, () -> null);
    }

    /**
     * Creates a registry.
     * @param defaults returns the settings of a queue, for attributes that are not set
     * @param handlers creates handlers
     * @param events receives the events of the listeners
     * @param errorHandler returns the error handler of listeners that have none of their
     * own, {@code null} for none; called for each of them
     */
    public DelayedListenerRegistry(Function<QueueName, ListenerSettings> defaults, HandlerMethodFactory handlers,
            MessageEventRecorderFactory events, Supplier<@Nullable DelayedListenerErrorHandler> errorHandler) {
        this.errorHandler = errorHandler;
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

    /**
     * Notifies the observer of each listener that is removed.
     * @param observer called from any thread, while no listener can register
     */
    public synchronized void onRemoval(Consumer<ListenerContainer> observer) {
        this.removalObservers.add(observer);
    }

    /** Returns whether a listener handles the queue. */
    public boolean handles(QueueName queue) {
        return this.queues.contains(queue.value());
    }

    HandlerMethodFactory handlers() {
        return this.handlers;
    }

    /**
     * Adds the listener of an endpoint, and starts it if the application has started.
     * @return the listener
     * @throws IllegalArgumentException if a setting of it is not valid, its method cannot
     * be a handler, or another listener of one of its queues reads another type
     * @throws IllegalStateException if another listener has its id, or forwards one of
     * its queues
     */
    public ListenerContainer register(DelayedListenerEndpoint endpoint) {
        ListenerContainer added;
        try {
            added = register(endpoint.definition(this.handlers));
        }
        catch (IllegalArgumentException ex) {
            throw new IllegalArgumentException(
                    "Endpoint '%s' is not valid: %s".formatted(endpoint.id(), ex.getMessage()), ex);
        }
        if (added == null) {
            throw duplicate(endpoint.id());
        }
        return added;
    }

    private static IllegalStateException duplicate(String id) {
        return new IllegalStateException("There is already a listener with the id '%s'".formatted(id));
    }

    /**
     * Stops a listener and removes it. Its running handlers continue, with their leases
     * renewed, for up to the shutdown timeout, and are ended then. Does not wait for
     * them.
     * @return {@code false} if there is no listener with the id
     */
    public synchronized boolean unregister(String id) {
        DefaultListenerContainer removed = this.containers.get(id);
        if (removed == null) {
            return false;
        }
        remove(removed);
        return true;
    }

    private void remove(DefaultListenerContainer removed) {
        String id = removed.id();
        Map<String, DefaultListenerContainer> remaining = new LinkedHashMap<>(this.containers);
        remaining.remove(id);
        publish(remaining);
        removed.stop();
        removed.detach();
        List<QueueName> queues = removed.bindings().stream().map(PartitionBinding::queue).toList();
        leave(id, queues);
        this.removalObservers.forEach((observer) -> observer.accept(removed));
        queues.forEach((queue) -> this.events.forget(queue, id));
    }

    private void leave(String id, List<QueueName> queues) {
        PayloadTypeAgreement.Reader reader = this.readers.remove(id);
        if (reader != null) {
            this.payloads.leave(queues, reader);
        }
    }

    /**
     * Adds a listener that is not an annotated method, and starts it if the application
     * has started. It must be the only one of the queue in this application.
     * @param settings changes the configured settings of the queue
     * @throws IllegalStateException if another listener handles the queue or has the id
     */
    public synchronized void register(String id, QueueName queue, MessageHandler handler,
            UnaryOperator<ListenerSettings> settings) {
        if (this.containers.containsKey(id)) {
            throw duplicate(id);
        }
        requireAlone(id, queue, this.containers.values());
        register(new DefaultListenerContainer(id,
                List.of(new PartitionBinding(id, Partition.first(queue), settings.apply(this.defaults.apply(queue)),
                        this.handlers.observed(handler, id), new ListenerCounters(), this.events.of(queue, id)))));
    }

    private static void requireAlone(String id, QueueName queue, Collection<? extends ListenerContainer> others) {
        for (ListenerContainer other : others) {
            if (other.queues().contains(queue.value())) {
                throw new IllegalStateException(
                        ("Listener '%s' cannot handle queue '%s', because listener '%s' handles it too: each message "
                                + "would go to one of the two")
                            .formatted(id, queue, other.id()));
            }
        }
    }

    /**
     * Adds a listener, and starts it if the application has started.
     * @return {@code null} if its id is in use
     * @throws IllegalArgumentException if it is not valid, or another listener of one of
     * its queues reads another type
     * @throws IllegalStateException if another listener must be the only one of a queue
     */
    @Nullable ListenerContainer register(ListenerDefinition definition) {
        if (this.containers.containsKey(definition.id())) {
            return null;
        }
        DelayedListenerErrorHandler own = definition.errorHandler();
        // Without the lock, as the error handler may be created now.
        return add(definition, (own != null) ? own : this.errorHandler.get());
    }

    private synchronized @Nullable ListenerContainer add(ListenerDefinition definition,
            @Nullable DelayedListenerErrorHandler errorHandler) {
        if (this.containers.containsKey(definition.id())) {
            return null;
        }
        List<DefaultListenerContainer> exclusive = this.containers.values()
            .stream()
            .filter((other) -> !this.readers.containsKey(other.id()))
            .toList();
        definition.queues().forEach((queue) -> requireAlone(definition.id(), queue, exclusive));
        // With the lock, or a removal of this id would take the meters of the new
        // listener.
        // Before there are meters, as it rejects listeners.
        this.payloads.join(definition.queues(), definition.reader());
        this.readers.put(definition.id(), definition.reader());
        DefaultListenerContainer container;
        try {
            container = container(definition, errorHandler);
        }
        catch (Throwable ex) {
            leave(definition.id(), definition.queues());
            definition.queues().forEach((queue) -> this.events.forget(queue, definition.id()));
            throw ex;
        }
        register(container);
        return container;
    }

    private DefaultListenerContainer container(ListenerDefinition definition,
            @Nullable DelayedListenerErrorHandler errorHandler) {
        String id = definition.id();
        List<ListenerSettings> settings = definition.queues()
            .stream()
            .map((queue) -> definition.settings().apply(this.defaults.apply(queue)))
            .toList();
        MessageHandler observed = this.handlers.observed(definition.handler(), id);
        List<PartitionBinding> bindings = new ArrayList<>();
        for (int i = 0; i < settings.size(); i++) {
            QueueName queue = definition.queues().get(i);
            PartitionBinding binding = new PartitionBinding(id, Partition.first(queue), settings.get(i), observed,
                    new ListenerCounters(), this.events.of(queue, id));
            bindings.add((errorHandler != null) ? binding.with(errorHandler) : binding);
        }
        return new DefaultListenerContainer(id, bindings);
    }

    /**
     * Adds a listener, and starts it if the application has started. If that fails, the
     * listener is not registered, so that it can be registered again.
     * @return {@code false} if its id is in use
     */
    synchronized boolean register(DefaultListenerContainer container) {
        Map<String, DefaultListenerContainer> extended = new LinkedHashMap<>(this.containers);
        if (extended.putIfAbsent(container.id(), container) != null) {
            return false;
        }
        publish(extended);
        try {
            if (this.run != null) {
                container.attach(this.run);
            }
            this.observers.forEach((observer) -> observer.accept(container));
        }
        catch (Throwable ex) {
            withdraw(container, ex);
            throw ex;
        }
        return true;
    }

    private void withdraw(DefaultListenerContainer container, Throwable reason) {
        try {
            remove(container);
        }
        catch (RuntimeException ex) {
            reason.addSuppressed(ex);
        }
    }

    private void publish(Map<String, DefaultListenerContainer> all) {
        this.containers = Collections.unmodifiableMap(all);
        this.queues = all.values()
            .stream()
            .flatMap((container) -> container.queues().stream())
            .collect(Collectors.toUnmodifiableSet());
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
            this.containers.values().forEach(DefaultListenerContainer::detach);
        }
    }

}
