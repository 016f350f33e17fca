package io.delayqueue.autoconfigure;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.UnknownQueueException;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.SimilarNames;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Rejects sends to queues that the application does not know, because no listener handles
 * them and no property names them. Rejects nothing until the context is complete, as
 * listeners are registered last.
 * <p>
 * <strong>Threads.</strong> Any thread sends; the flag is set once.
 */
final class UnknownQueueGuard implements ApplicationListener<ContextRefreshedEvent> {

    private final DelayQueueProperties properties;

    private final Supplier<Stream<DelayedListenerRegistry>> listeners;

    private final @Nullable ApplicationContext context;

    private volatile boolean complete;

    /**
     * Creates an instance.
     * @param context the context whose refresh completes it; {@code null} if
     * {@link #complete()} is called instead
     */
    UnknownQueueGuard(DelayQueueProperties properties, Supplier<Stream<DelayedListenerRegistry>> listeners,
            @Nullable ApplicationContext context) {
        this.properties = properties;
        this.listeners = listeners;
        this.context = context;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() == this.context) {
            complete();
        }
    }

    /** Marks the registration of listeners as complete. */
    void complete() {
        this.complete = true;
    }

    /**
     * Checks the queue of a send.
     * @throws UnknownQueueException if it is to be rejected
     */
    void require(QueueName queue) {
        if (this.properties.send().unknownQueues() == DelayQueueProperties.UnknownQueues.ALLOW || !this.complete
                || isDeclared(queue.value()) || this.listeners.get().anyMatch((registry) -> registry.handles(queue))) {
            return;
        }
        throw new UnknownQueueException(queue,
                ("Queue '%s' is not known, so nothing was sent (delayqueue.send.unknown-queues is 'reject'): no "
                        + "listener of this application handles it, and neither delayqueue.known-queues nor "
                        + "delayqueue.queues names it%s")
                    .formatted(queue,
                            SimilarNames.among(all(), queue.value())
                                .map((name) -> ". Did you mean '%s'?".formatted(name))
                                .orElse("")));
    }

    /** Returns whether a property names the queue. */
    boolean isDeclared(String queue) {
        return this.properties.knownQueues().contains(queue) || this.properties.queues().containsKey(queue)
                || isOfIntake(queue);
    }

    private boolean isOfIntake(String queue) {
        IntakeSettings intake = this.properties.intake();
        return intake.kafka().values().stream().anyMatch((topic) -> queue.equals(topic.to()))
                || intake.rabbit().values().stream().anyMatch((source) -> queue.equals(source.to()));
    }

    /** Returns the queues that listeners of the application handle. */
    Set<String> listenedTo() {
        Set<String> names = new TreeSet<>();
        this.listeners.get()
            .flatMap((registry) -> registry.listeners().stream())
            .forEach((listener) -> names.addAll(listener.queues()));
        return names;
    }

    private Set<String> all() {
        Set<String> names = listenedTo();
        names.addAll(this.properties.knownQueues());
        names.addAll(this.properties.queues().keySet());
        return names;
    }

}
