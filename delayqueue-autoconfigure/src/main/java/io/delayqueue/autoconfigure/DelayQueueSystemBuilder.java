package io.delayqueue.autoconfigure;

import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.journal.JournalMode;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.core.task.TaskDecorator;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Builds a {@link DelayQueueSystem} on another Redis or in another namespace than the
 * application's own queues. All other settings are those of {@code delayqueue.*}, unless
 * the system has {@linkplain #properties(String) separate properties}.
 * <p>
 * Inject it where the system's bean is declared. Immutable and thread-safe: each method
 * returns a new builder.
 * <p>
 * The queues of another Redis: <pre class="code">
 * &#64;Bean
 * DelayQueueSystem billing(DelayQueueSystemBuilder builder, &#64;Qualifier("billingRedis") RedisConnectionFactory redis) {
 *     return builder.connectionFactory(redis).namespace("billing").build();
 * }
 * </pre>
 */
public class DelayQueueSystemBuilder {

    private final ApplicationContext context;

    /** The separate properties, if any. */
    private final @Nullable DelayQueueProperties own;

    /** The prefix of the properties, for exceptions. */
    private final String prefix;

    private final @Nullable RedisConnectionFactory connectionFactory;

    private final @Nullable String namespace;

    /** Creates a builder that takes the other parts of a system from a context. */
    DelayQueueSystemBuilder(ApplicationContext context) {
        this(context, null, DelayQueueProperties.PREFIX, null, null);
    }

    private DelayQueueSystemBuilder(ApplicationContext context, @Nullable DelayQueueProperties own, String prefix,
            @Nullable RedisConnectionFactory connectionFactory, @Nullable String namespace) {
        this.context = context;
        this.own = own;
        this.prefix = prefix;
        this.connectionFactory = connectionFactory;
        this.namespace = namespace;
    }

    /**
     * Sets the connection factory of the Redis that stores the messages; by default that
     * of the application's own queues. The system does not close it. With
     * {@code delayqueue.store=memory} it is not used.
     */
    public DelayQueueSystemBuilder connectionFactory(RedisConnectionFactory connectionFactory) {
        return new DelayQueueSystemBuilder(this.context, this.own, this.prefix, connectionFactory, this.namespace);
    }

    /**
     * Sets the prefix of all keys; {@code delayqueue.namespace} by default.
     * @param namespace 1 to 64 characters: letters, digits and {@code . _ : -}, beginning
     * with a letter or a digit
     * @throws IllegalArgumentException if it does not match
     */
    public DelayQueueSystemBuilder namespace(String namespace) {
        return new DelayQueueSystemBuilder(this.context, this.own, this.prefix, this.connectionFactory,
                RedisScriptExecutor.requireNamespace(namespace));
    }

    /**
     * Reads all settings from properties with another prefix, which have the same names
     * as those of {@code delayqueue}: {@code namespace}, {@code listener.concurrency} and
     * so on. A setting that is missing there has its default value, not that of the
     * application's own queues.
     * @param prefix in lower case, with dashes, such as {@code billing.queues}
     * @throws IllegalArgumentException if they configure a journal, a forward or an
     * intake, which only the application's own queues have
     */
    public DelayQueueSystemBuilder properties(String prefix) {
        DelayQueueProperties properties = Binder.get(this.context.getEnvironment())
            .bindOrCreate(prefix, Bindable.of(DelayQueueProperties.class), new PrefixBindHandler(prefix));
        requireNoJournal(prefix + ".journal.mode", properties.journal().mode());
        properties.queues()
            .forEach((name, queue) -> requireNoJournal("%s.queues[%s].journal-mode".formatted(prefix, name),
                    queue.journalMode()));
        requireNone(prefix + ".forward", properties.forward());
        requireNone(prefix + ".intake.kafka", properties.intake().kafka());
        requireNone(prefix + ".intake.rabbit", properties.intake().rabbit());
        return new DelayQueueSystemBuilder(this.context, properties, prefix, this.connectionFactory, this.namespace);
    }

    private static void requireNoJournal(String property, @Nullable JournalMode mode) {
        if (mode != null && mode != JournalMode.OFF) {
            throw new IllegalArgumentException("%s must be off, as a further queue system has no journal, but was %s"
                .formatted(property, mode.name().toLowerCase(Locale.ROOT)));
        }
    }

    private static void requireNone(String property, Map<String, ?> settings) {
        if (!settings.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s must be empty, as a further queue system has no forwards and no intakes, but has %s"
                        .formatted(property, String.join(", ", new TreeSet<>(settings.keySet()))));
        }
    }

    /**
     * Builds the system, which connects on first use.
     * @throws IllegalStateException if nothing was set, because its queues would be the
     * application's own
     */
    public DelayQueueSystem build() {
        if (this.connectionFactory == null && this.namespace == null && this.own == null) {
            throw new IllegalStateException("A further queue system needs a connection factory, a namespace or "
                    + "properties of its own, or its queues would be those that the application has already");
        }
        return new DelayQueueSystem(this, isInMemory() ? DelayQueueSystemStore.inMemory(this)
                : DelayQueueSystemStore.onRedis(this, connections(), namespace()));
    }

    private boolean isInMemory() {
        return settings().store() == DelayQueueProperties.StoreType.MEMORY
                || this.context.getBean(DelayQueueProperties.class).store() == DelayQueueProperties.StoreType.MEMORY;
    }

    private RedisConnectionFactory connections() {
        if (this.connectionFactory != null) {
            return this.connectionFactory;
        }
        if (this.own != null && this.own.connectionFactory() != null) {
            return ConnectionFactorySelector.among(this.context, this.prefix, this.own.connectionFactory());
        }
        return this.context.getBean(DelayQueueAutoConfiguration.REDIS_TEMPLATE, RedisTemplate.class)
            .getRequiredConnectionFactory();
    }

    private String namespace() {
        return (this.namespace != null) ? this.namespace : settings().namespace();
    }

    ApplicationContext context() {
        return this.context;
    }

    DelayQueueProperties settings() {
        return (this.own != null) ? this.own : this.context.getBean(DelayQueueProperties.class);
    }

    EnvelopeCodec codec() {
        return this.context.getBean(EnvelopeCodec.class);
    }

    HandlerMethodFactory handlers() {
        return this.context.getBean(HandlerMethodFactory.class).withoutTransactions();
    }

    @Nullable DelayedListenerErrorHandler errorHandler() {
        return this.context.getBeanProvider(DelayedListenerErrorHandler.class).getIfUnique();
    }

    MessageObservations observations() {
        return this.context.getBeanProvider(MessageObservations.class).getIfAvailable(() -> MessageObservations.NONE);
    }

    MessageEventRecorderFactory events() {
        return DelayQueueAutoConfiguration.eventsOf(this.context.getBeanProvider(MessageEventRecorderFactory.class));
    }

    SharedListenerSettings runtimeSettings() {
        return settings().workerSettings(Threading.VIRTUAL.isActive(this.context.getEnvironment()),
                HandlerExecutorResolver.among(this.context, this.prefix, settings().listener().executor(),
                        this.context.getBeanProvider(TaskDecorator.class)));
    }

    PartitionLayouts layouts(PartitionLayoutStore store) {
        return new PartitionLayouts(store, settings()::partitions, System::nanoTime);
    }

    @Nullable String applicationName() {
        return this.context.getEnvironment().getProperty("spring.application.name");
    }

    String application() {
        return this.context.getEnvironment().getProperty("spring.application.name", "application");
    }

}
