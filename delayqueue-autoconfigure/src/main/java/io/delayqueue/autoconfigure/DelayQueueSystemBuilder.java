package io.delayqueue.autoconfigure;

import io.delayqueue.redis.RedisScriptExecutor;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Builds a {@link DelayQueueSystem} on another Redis or in another namespace than the
 * application's own queues. All other settings are those of {@code delayqueue.*}, unless
 * the system has {@linkplain #properties(String) separate properties}.
 * <p>
 * Inject it where the system's bean is declared. Immutable and thread-safe: each method
 * returns a new builder.
 */
public class DelayQueueSystemBuilder {

    private final DelayQueueSystemListenersFactory parts;

    private final @Nullable RedisConnectionFactory connectionFactory;

    private final @Nullable String namespace;

    DelayQueueSystemBuilder(DelayQueueSystemListenersFactory parts) {
        this(parts, null, null);
    }

    private DelayQueueSystemBuilder(DelayQueueSystemListenersFactory parts,
            @Nullable RedisConnectionFactory connectionFactory, @Nullable String namespace) {
        this.parts = parts;
        this.connectionFactory = connectionFactory;
        this.namespace = namespace;
    }

    /**
     * Sets the connection factory of the Redis that stores the messages; by default that
     * of the application's own queues. The system does not close it. With
     * {@code delayqueue.store=memory} it is not used.
     */
    public DelayQueueSystemBuilder connectionFactory(RedisConnectionFactory connectionFactory) {
        return new DelayQueueSystemBuilder(this.parts, connectionFactory, this.namespace);
    }

    /**
     * Sets the prefix of all keys; {@code delayqueue.namespace} by default.
     * @param namespace 1 to 64 characters: letters, digits and {@code . _ : -}, beginning
     * with a letter or a digit
     * @throws IllegalArgumentException if it does not match
     */
    public DelayQueueSystemBuilder namespace(String namespace) {
        return new DelayQueueSystemBuilder(this.parts, this.connectionFactory,
                RedisScriptExecutor.requireNamespace(namespace));
    }

    /**
     * Reads all settings from properties with another prefix, which have the same names
     * as those of {@code delayqueue}: {@code namespace}, {@code listener.concurrency} and
     * so on. A setting that is missing there has its default value, not that of the
     * application's own queues.
     * @param prefix in lower case, with dashes, such as {@code billing.queues}
     */
    public DelayQueueSystemBuilder properties(String prefix) {
        return new DelayQueueSystemBuilder(this.parts.with(prefix), this.connectionFactory, this.namespace);
    }

    /**
     * Builds the system, which connects on first use.
     * @throws IllegalStateException if nothing was set, because its queues would be the
     * application's own
     */
    public DelayQueueSystem build() {
        if (this.connectionFactory == null && this.namespace == null && !this.parts.hasPropertiesOfItsOwn()) {
            throw new IllegalStateException("A further queue system needs a connection factory, a namespace or "
                    + "properties of its own, or its queues would be those that the application has already");
        }
        return new DelayQueueSystem(this.parts,
                this.parts.isInMemory() ? DelayQueueSystemStore.inMemory(this.parts) : onRedis());
    }

    private DelayQueueSystemStore onRedis() {
        return DelayQueueSystemStore.onRedis(this.parts,
                (this.connectionFactory != null) ? this.connectionFactory : this.parts.connections(),
                (this.namespace != null) ? this.namespace : this.parts.properties().namespace());
    }

}
