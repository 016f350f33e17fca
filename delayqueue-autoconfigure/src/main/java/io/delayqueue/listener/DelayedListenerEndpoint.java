package io.delayqueue.listener;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.BatchPayloadHandler;
import io.delayqueue.listener.handler.HandlerMethodAdapter;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.PayloadHandler;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.store.MessageStore;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.util.Assert;

/**
 * Describes a listener that is registered by a call instead of an annotation, for queues
 * that are known only at run time. Settings that are not set are those of the queue, as
 * for an annotated method. <pre class="code">
 * registry.register(DelayedListenerEndpoint.builder("reminders-acme", "reminders.acme")
 *     .handler(Reminder.class, (reminder, delivery) -&gt; reminders.send(reminder))
 *     .concurrency(2)
 *     .build());
 * </pre>
 * <p>
 * Immutable.
 *
 * @see DelayedListenerRegistry#register(DelayedListenerEndpoint)
 * @see DelayedListenerConfigurer
 */
public final class DelayedListenerEndpoint {

    private final String id;

    private final List<QueueName> queues;

    private final HandlerSource handler;

    private final int batchSize;

    private final UnaryOperator<ListenerSettings> settings;

    private final @Nullable DelayedListenerErrorHandler errorHandler;

    private final boolean transactional;

    private DelayedListenerEndpoint(Builder builder, HandlerSource handler) {
        this.id = builder.id;
        this.queues = builder.queues;
        this.handler = handler;
        this.batchSize = (builder.batchSize != null) ? builder.batchSize : MessageStore.BATCH_LIMIT;
        this.settings = builder.settings;
        this.errorHandler = builder.errorHandler;
        this.transactional = builder.transactional;
    }

    /**
     * Creates a builder.
     * @param id the id of the listener in the registry and in logs, unique in it
     * @param queues the queues to listen to, at least one
     * @throws IllegalArgumentException if the id is blank, or a queue is not valid or
     * there twice
     */
    public static Builder builder(String id, String... queues) {
        return new Builder(id, List.of(queues));
    }

    /** Returns the id of the listener. */
    public String id() {
        return this.id;
    }

    /** Returns the queues of the listener. */
    public List<String> queues() {
        return this.queues.stream().map(QueueName::value).toList();
    }

    /**
     * Creates the listener.
     * @throws IllegalArgumentException if the method cannot be a handler
     */
    ListenerDefinition definition(HandlerMethodFactory handlers) {
        HandlerMethodAdapter created = this.handler.create(handlers, this.batchSize);
        PayloadTypeAgreement.Reader reader = new PayloadTypeAgreement.Reader("endpoint '%s'".formatted(this.id),
                created.payloadType());
        return new ListenerDefinition(this.id, this.queues,
                this.transactional ? handlers.transactional(created, this.queues) : created, this.settings,
                this.errorHandler, reader);
    }

    @Override
    public String toString() {
        return "endpoint '%s' of queues %s".formatted(this.id, this.queues);
    }

    /** Creates the handler of an endpoint. */
    @FunctionalInterface
    private interface HandlerSource {

        /**
         * Creates the handler.
         * @param batchSize the maximum number of messages of a batch
         */
        HandlerMethodAdapter create(HandlerMethodFactory handlers, int batchSize);

    }

    /** Collects the parts of an endpoint. Not thread-safe. */
    public static final class Builder {

        private final String id;

        private final List<QueueName> queues;

        private @Nullable HandlerSource handler;

        private boolean batch;

        private @Nullable Integer batchSize;

        private UnaryOperator<ListenerSettings> settings = UnaryOperator.identity();

        private @Nullable DelayedListenerErrorHandler errorHandler;

        private boolean transactional;

        private Builder(String id, List<String> queues) {
            Assert.isTrue(!id.isBlank(), "The id of an endpoint must not be blank");
            this.id = id;
            this.queues = ListenerDefinition.queues(queues);
        }

        /** Sets the handler, and the type that the payload is read as. */
        public <T> Builder handler(Class<T> payloadType, PayloadHandler<T> handler) {
            return single((handlers, size) -> handlers.create(payloadType, handler));
        }

        /** Sets the handler, and the generic type that the payload is read as. */
        public <T> Builder handler(ParameterizedTypeReference<T> payloadType, PayloadHandler<T> handler) {
            return single((handlers, size) -> handlers.create(payloadType.getType(), handler));
        }

        /**
         * Sets a method as the handler. It may have the same parameters and the same
         * return types as a method with {@code @DelayedListener}.
         * @param bean the object that it is called on; may be a proxy
         */
        public Builder method(Object bean, Method method) {
            return single((handlers, size) -> handlers.create(bean, method, null));
        }

        /**
         * Sets the handler of batches, and the type that each payload is read as.
         * @see io.delayqueue.DelayedListener#batch()
         */
        public <T> Builder batchHandler(Class<T> payloadType, BatchPayloadHandler<T> handler) {
            return batch((handlers, size) -> handlers.createBatch(payloadType, handler, size));
        }

        /**
         * Sets the handler of batches, and the generic type that each payload is read as.
         */
        public <T> Builder batchHandler(ParameterizedTypeReference<T> payloadType, BatchPayloadHandler<T> handler) {
            return batch((handlers, size) -> handlers.createBatch(payloadType.getType(), handler, size));
        }

        /**
         * Sets a method as the handler of batches. It may have the same parameters and
         * return types as a method with {@code @DelayedListener(batch = true)}.
         * @param bean the object that it is called on; may be a proxy
         */
        public Builder batchMethod(Object bean, Method method) {
            return batch((handlers, size) -> handlers.createBatch(bean, method, size));
        }

        private Builder single(HandlerSource handler) {
            this.handler = handler;
            this.batch = false;
            return this;
        }

        private Builder batch(HandlerSource handler) {
            this.handler = handler;
            this.batch = true;
            return this;
        }

        /**
         * Sets the maximum number of messages of a batch, for a handler of batches.
         * @param batchSize 1 to 100; 100 by default
         */
        public Builder batchSize(int batchSize) {
            this.batchSize = batchSize;
            return this;
        }

        /**
         * Sets the maximum number of messages of each queue, or of batches, that this
         * process handles concurrently.
         * @param concurrency 1 to 10000
         */
        public Builder concurrency(int concurrency) {
            return with((settings) -> settings.withConcurrency(concurrency));
        }

        /**
         * Sets how long a claimed message is reserved for this process.
         * @param lease at least a second
         */
        public Builder lease(Duration lease) {
            return with((settings) -> settings.withLease(lease));
        }

        /**
         * Sets the longest time that the handler may take.
         * @param timeout more than zero; {@code null} for no limit
         */
        public Builder timeout(@Nullable Duration timeout) {
            return with((settings) -> settings.withTimeout(timeout));
        }

        /**
         * Sets the maximum number of attempts for a message, counting those that failed.
         * @param maxAttempts at least 1
         */
        public Builder maxAttempts(int maxAttempts) {
            return with((settings) -> settings.withMaxAttempts(maxAttempts));
        }

        /** Sets the wait times between the attempts. */
        public Builder backoff(BackoffPolicy backoff) {
            return with((settings) -> settings.withBackoff(backoff));
        }

        /**
         * Sets the exceptions, including their subclasses, that dead-letter a message
         * immediately.
         */
        public Builder noRetryFor(Set<Class<? extends Throwable>> types) {
            return with((settings) -> settings.withNoRetryFor(types));
        }

        /**
         * Sets whether the listener starts with the application, or at once if that has
         * started; otherwise {@link ListenerContainer#start()} starts it.
         */
        public Builder autoStartup(boolean autoStartup) {
            return with((settings) -> settings.withAutoStartup(autoStartup));
        }

        private Builder with(UnaryOperator<ListenerSettings> change) {
            UnaryOperator<ListenerSettings> before = this.settings;
            this.settings = (settings) -> change.apply(before.apply(settings));
            return this;
        }

        /**
         * Sets the handler that decides how a message is settled after a failed attempt,
         * in place of that of the application.
         */
        public Builder errorHandler(DelayedListenerErrorHandler errorHandler) {
            this.errorHandler = errorHandler;
            return this;
        }

        /**
         * Sets whether the handler runs in a transaction that also records that the
         * message was handled.
         * @see io.delayqueue.DelayedListener#transactional()
         */
        public Builder transactional(boolean transactional) {
            this.transactional = transactional;
            return this;
        }

        /**
         * Builds the endpoint. Its settings are checked when it is registered.
         * @throws IllegalArgumentException if it has no handler, or a batch size and a
         * handler of single messages
         */
        public DelayedListenerEndpoint build() {
            if (this.handler == null) {
                throw new IllegalArgumentException("Endpoint '%s' needs a handler or a method".formatted(this.id));
            }
            if (this.batchSize != null && !this.batch) {
                throw new IllegalArgumentException(
                        "Endpoint '%s' has a batchSize, so it needs a batchHandler or a batchMethod"
                            .formatted(this.id));
            }
            return new DelayedListenerEndpoint(this, this.handler);
        }

    }

}
