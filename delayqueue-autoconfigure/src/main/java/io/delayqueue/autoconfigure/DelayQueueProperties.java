package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.journal.HistorySettings;
import io.delayqueue.journal.JournalMode;
import io.delayqueue.journal.JournalSettings;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.replication.ReplicationRequirement;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Partition;
import io.delayqueue.store.Texts;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.template.TemplateSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Holds the settings of the delay queue, checked when the application starts. Only Spring
 * Boot constructs these records: a later version may add components.
 *
 * @param store Store of the messages.
 * @param namespace Beginning of every Redis key. Applications or environments that share
 * a Redis and not their queues need different ones.
 * @param connectionFactory Name of the RedisConnectionFactory bean to use. Needed where
 * there are several and none is primary.
 * @param commandTimeout Longest time to wait for an answer from Redis. Clients other than
 * Lettuce wait as long as they are configured to.
 * @param maxReconnectDelay Longest wait before Boot's Lettuce client tries to connect
 * again; 0 leaves the client as it is.
 * @param wakeup How workers are notified of messages that are due before their next poll.
 * @param safetyPoll Longest time between two polls of a queue that has a listener. Bounds
 * the lateness after a lost wake-up.
 * @param maxPayloadSize Largest message in its stored form, which is the payload as JSON
 * and its headers. A send of a larger one is rejected.
 * @param send Settings of sending.
 * @param durability Replication that a send waits for.
 * @param listener Settings of all listeners.
 * @param deadLetters Settings of dead letters.
 * @param schedules Settings of schedules.
 * @param journal Settings of the journal in an SQL database.
 * @param knownQueues Names of queues that the application uses without a listener.
 * @param queues Settings of single queues, by name, which override those of all
 * listeners.
 * @param forward Queues whose due messages are forwarded to a broker, by name.
 * @param intake Settings of intake.
 */
@ConfigurationProperties(DelayQueueProperties.PREFIX)
public record DelayQueueProperties(@DefaultValue("redis") StoreType store, @DefaultValue("dq") String namespace,
        @Nullable String connectionFactory, @DefaultValue("5s") Duration commandTimeout,
        @DefaultValue("500ms") Duration maxReconnectDelay, @DefaultValue("channel") WakeUpMode wakeup,
        @DefaultValue("5s") Duration safetyPoll, @DefaultValue("256KB") DataSize maxPayloadSize,
        @DefaultValue Send send, @DefaultValue Durability durability, @DefaultValue Listener listener,
        @DefaultValue DeadLetters deadLetters, @DefaultValue Schedules schedules, @DefaultValue Journal journal,
        @DefaultValue Set<String> knownQueues, @DefaultValue Map<String, Queue> queues,
        @DefaultValue Map<String, ForwardSettings> forward,
        @NestedConfigurationProperty @DefaultValue IntakeSettings intake) {

    static final String PREFIX = "delayqueue";

    private static final Duration MIN_WAIT = Duration.ofMillis(100);

    private static final Duration MIN_RECONNECT = Duration.ofMillis(10);

    private static final Duration MAX_WAIT = Duration.ofHours(1);

    private static final int MAX_REPLICAS = 100;

    private static final String ZERO_OR_MORE = "zero to %d days".formatted(MessageLimits.MAX_DURATION.toDays());

    private static final DataSize MAX_PAYLOAD = DataSize.ofMegabytes(16);

    public DelayQueueProperties {
        check("delayqueue.namespace: ", () -> RedisScriptExecutor.requireNamespace(namespace));
        require(isWithin(commandTimeout, MIN_WAIT, MAX_WAIT), "delayqueue.command-timeout", "100ms to 1h",
                commandTimeout);
        require(maxReconnectDelay.isZero() || isWithin(maxReconnectDelay, MIN_RECONNECT, MAX_WAIT),
                "delayqueue.max-reconnect-delay", "0, or 10ms to 1h", maxReconnectDelay);
        require(isWithin(safetyPoll, MIN_WAIT, MAX_WAIT), "delayqueue.safety-poll", "100ms to 1h", safetyPoll);
        require(maxPayloadSize.toBytes() >= 1 && maxPayloadSize.compareTo(MAX_PAYLOAD) <= 0,
                "delayqueue.max-payload-size", "1B to 16MB", maxPayloadSize);
        require(durability.waitReplicas() == 0
                || isWithin(durability.waitTimeout(), Duration.ofMillis(1), commandTimeout.dividedBy(2)),
                "delayqueue.durability.wait-timeout",
                "1ms to half of delayqueue.command-timeout (%s)".formatted(Texts.span(commandTimeout)),
                durability.waitTimeout());
        require(durability.waitReplicas() == 0 || store == StoreType.REDIS, "delayqueue.durability.wait-replicas",
                "0 with delayqueue.store 'memory', which has no replicas", durability.waitReplicas());
        check("delayqueue.listener.", () -> listener.settings(null));
        knownQueues = Set.copyOf(knownQueues);
        knownQueues.forEach((name) -> check("delayqueue.known-queues: ", () -> new QueueName(name)));
        queues = Map.copyOf(queues);
        queues.forEach((name, queue) -> {
            check("delayqueue.queues: ", () -> new QueueName(name));
            check(propertiesOf("queues", name), () -> listener.settings(queue));
            int partitions = (queue.partitions() != null) ? queue.partitions() : 1;
            require(partitions >= 1 && partitions <= Partition.LIMIT, propertiesOf("queues", name) + "partitions",
                    "1 to %d".formatted(Partition.LIMIT), partitions);
        });
        require(journal.history().enabled() || !hasJournal(journal, queues, JournalMode.AUDIT::equals),
                "delayqueue.journal.history.enabled", "true with a journal mode 'audit'", false);
        forward = Map.copyOf(forward);
        forward.forEach(DelayQueueProperties::checkForward);
    }

    private static void checkForward(String name, ForwardSettings forward) {
        check("delayqueue.forward: ", () -> new QueueName(name));
        require(isWithin(forward.timeout(), MIN_WAIT, MAX_WAIT), propertiesOf("forward", name) + "timeout",
                "100ms to 1h", forward.timeout());
    }

    /** Returns the configured settings of the listeners of a queue. */
    public ListenerSettings listenerSettings(QueueName queue) {
        return this.listener.settings(this.queues.get(queue.value()));
    }

    /**
     * Returns the configured number of partitions of a queue; 0 if none is configured.
     */
    int partitions(QueueName name) {
        Queue queue = this.queues.get(name.value());
        return (queue != null && queue.partitions() != null) ? queue.partitions() : 0;
    }

    /** Returns the mode of the journal of a queue. */
    JournalMode journalMode(QueueName name) {
        Queue queue = this.queues.get(name.value());
        return (queue != null && queue.journalMode() != null) ? queue.journalMode() : this.journal.mode();
    }

    /** Returns whether the journal of any queue has such a mode. */
    boolean hasJournal(Predicate<JournalMode> kind) {
        return hasJournal(this.journal, this.queues, kind);
    }

    private static boolean hasJournal(Journal journal, Map<String, Queue> queues, Predicate<JournalMode> kind) {
        return kind.test(journal.mode()) || queues.values()
            .stream()
            .anyMatch((queue) -> queue.journalMode() != null && kind.test(queue.journalMode()));
    }

    /** Returns whether the transitions of the messages of any queue are recorded. */
    boolean hasHistory() {
        return this.journal.history().enabled() && hasJournal(JournalMode::recordsHistory);
    }

    /** Returns the settings of a queue for callers that are not listeners. */
    public ConsumeSettings consumeSettings(QueueName queue) {
        ListenerSettings settings = listenerSettings(queue);
        return new ConsumeSettings(settings.lease(), settings.maxAttempts(), settings.maxLapses(),
                settings.expiryPolicy(), this.safetyPoll,
                (failures) -> settings.backoff().delayAfter(failures, ThreadLocalRandom.current()::nextDouble));
    }

    /** Returns the settings of the template. */
    TemplateSettings templateSettings(MessageObservations observations, UnknownQueueGuard queues) {
        return new TemplateSettings((int) this.maxPayloadSize.toBytes(), this.send.afterCommit(), answerLimit(),
                this::consumeSettings, observations, queues::require);
    }

    /**
     * Returns the longest wait for an answer of the store, whose own limit normally
     * applies first.
     */
    Duration answerLimit() {
        return this.commandTimeout.multipliedBy(2);
    }

    /** Returns the replication that a send waits for. */
    ReplicationRequirement replicaWait() {
        return new ReplicationRequirement(this.durability.waitReplicas(), this.durability.waitTimeout());
    }

    /**
     * Returns the schedules of a store.
     * @param application the name of the application; {@code null} for none
     */
    LocalSchedules localSchedules(ScheduleStore store, EnvelopeCodec codec, @Nullable String application) {
        return new LocalSchedules(store, codec, this.schedules.misfireThreshold(),
                (application != null) ? application : "");
    }

    /** Returns the settings shared by all listeners of the process. */
    SharedListenerSettings workerSettings(boolean virtualThreads, HandlerExecution execution) {
        Duration retention = this.deadLetters.retention();
        return new SharedListenerSettings(this.listener.shutdownTimeout(), this.safetyPoll,
                retention.isZero() ? null : retention, virtualThreads, execution);
    }

    private static boolean isWithin(Duration value, Duration shortest, Duration longest) {
        return value.compareTo(shortest) >= 0 && value.compareTo(longest) <= 0;
    }

    private static void require(boolean met, String property, String rule, Object value) {
        if (!met) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(property, rule,
                    (value instanceof Duration span) ? Texts.span(span) : value));
        }
    }

    /**
     * Adds the name of the property to the exception of an invalid value. Does not set
     * that exception as the cause, because Boot shows the last cause instead.
     */
    private static void check(String property, Runnable value) {
        try {
            value.run();
        }
        catch (IllegalArgumentException ex) {
            String[] problem = String.valueOf(ex.getMessage()).split(" ", 2);
            throw new IllegalArgumentException(
                    property + DataObjectPropertyName.toDashedForm(problem[0]) + " " + problem[1]);
        }
    }

    /** Returns the prefix of the properties of a queue, as it must be written. */
    private static String propertiesOf(String parent, String queue) {
        return "delayqueue." + parent + (queue.matches("[a-z0-9-]+") ? "." + queue : "[" + queue + "]") + ".";
    }

    /** Store of the messages. */
    public enum StoreType {

        /** In Redis. */
        REDIS,

        /** In this process; they are gone when it ends. */
        MEMORY

    }

    /**
     * Settings of sending.
     *
     * @param afterCommit Whether a send inside a transaction waits for its commit, unless
     * the message says otherwise.
     * @param unknownQueues Whether a send to a queue without a listener in the
     * application that no property names is allowed.
     */
    public record Send(@DefaultValue("false") boolean afterCommit, @DefaultValue("allow") UnknownQueues unknownQueues) {
    }

    /** Decides how a send to a queue that the application does not know is treated. */
    public enum UnknownQueues {

        /** It is sent. */
        ALLOW,

        /** It fails, and nothing is sent. */
        REJECT

    }

    /**
     * Settings of the replication that a send waits for.
     *
     * @param waitReplicas How many replicas must have a message before its send returns;
     * 0 for none. Needs Lettuce.
     * @param waitTimeout Time limit for the replicas. After it the send fails, although
     * the message is stored.
     */
    public record Durability(@DefaultValue("0") int waitReplicas, @DefaultValue("1s") Duration waitTimeout) {

        public Durability {
            require(waitReplicas >= 0 && waitReplicas <= MAX_REPLICAS, "delayqueue.durability.wait-replicas",
                    "0 to %d".formatted(MAX_REPLICAS), waitReplicas);
        }

    }

    /**
     * Settings of dead letters.
     *
     * @param retention How long dead letters are kept; zero to keep them. Applies only to
     * queues that have a listener.
     */
    public record DeadLetters(@DefaultValue("30d") Duration retention) {

        public DeadLetters {
            require(isWithin(retention, Duration.ZERO, MessageLimits.MAX_DURATION), "delayqueue.dead-letters.retention",
                    ZERO_OR_MORE, retention);
        }

    }

    /**
     * Settings of schedules.
     *
     * @param misfireThreshold Lateness from which on an occurrence counts as missed, so
     * that the misfire policy of its schedule applies.
     */
    public record Schedules(@DefaultValue("60s") Duration misfireThreshold) {

        public Schedules {
            require(isWithin(misfireThreshold, Duration.ofSeconds(1), Duration.ofDays(1)),
                    "delayqueue.schedules.misfire-threshold", "1s to 1d", misfireThreshold);
        }

    }

    /**
     * Settings of the journal.
     *
     * @param mode Kind of records in the database of the application.
     * @param history Settings of the history of messages.
     * @param restorePause How long claims of a ledger that Redis has lost are held back
     * at most, until it is restored. Zero for not at all.
     * @param maintenance Whether this node may do the work that one node does for all:
     * apply requests that others have left, compare overdue messages, delete old records.
     */
    public record Journal(@DefaultValue("off") JournalMode mode, @DefaultValue History history,
            @DefaultValue("30s") Duration restorePause, @DefaultValue("true") boolean maintenance) {

        public Journal {
            require(isWithin(restorePause, Duration.ZERO, MAX_WAIT), "delayqueue.journal.restore-pause", "0s to 1h",
                    restorePause);
        }

        JournalSettings settings(Duration commandTimeout) {
            return new JournalSettings(commandTimeout, this.restorePause, this.maintenance);
        }

    }

    /**
     * Settings of the history of messages, in the journal modes that record it.
     *
     * @param enabled Whether the transitions of messages are recorded. A ledger works
     * without them and needs half of the writes; the mode 'audit' has no other purpose.
     * @param retention How long a transition is kept.
     * @param causes Whether the messages of exceptions are recorded, which may quote a
     * payload. If not, the type of the exception is.
     * @param buffer Maximum number of transitions that wait to be written. Further ones
     * are dropped and counted.
     */
    public record History(@DefaultValue("true") boolean enabled, @DefaultValue("30d") Duration retention,
            @DefaultValue("true") boolean causes, @DefaultValue("10000") int buffer) {

        private static final int MAX_BUFFER = 1_000_000;

        public History {
            require(isWithin(retention, Duration.ofSeconds(1), MessageLimits.MAX_DURATION),
                    "delayqueue.journal.history.retention",
                    "1s to %d days".formatted(MessageLimits.MAX_DURATION.toDays()), retention);
            require(buffer >= 1 && buffer <= MAX_BUFFER, "delayqueue.journal.history.buffer",
                    "1 to %d".formatted(MAX_BUFFER), buffer);
        }

        HistorySettings settings(boolean deletion) {
            return new HistorySettings(this.retention, this.causes, deletion, this.buffer);
        }

    }

    /**
     * Settings of all listeners.
     *
     * @param concurrency Maximum number of messages of a queue that a listener of this
     * process handles concurrently.
     * @param lease How long a claimed message is leased. Renewed while its handler runs,
     * so it bounds the recovery time after a crash, not the duration of a handler.
     * @param timeout Time limit of a handler; no limit if zero or not set.
     * @param overdueAfter Duration after which a handler without a timeout is shown to
     * operators as overdue. Has no other effect.
     * @param maxAttempts Failures after which a message is dead-lettered.
     * @param maxLapses Lapses after a recorded start, usually crashes of the process,
     * after which a message is dead-lettered.
     * @param expiryPolicy How to treat a message that was not handled within its time to
     * live.
     * @param autoStartup Whether listeners start with the application.
     * @param executor Name of an Executor bean that runs handlers, instead of threads of
     * the library.
     * @param shutdownTimeout How long a shutdown waits for running handlers before it
     * interrupts them. Should be some seconds less than
     * spring.lifecycle.timeout-per-shutdown-phase.
     * @param backoff Delays between attempts.
     */
    public record Listener(@DefaultValue("10") int concurrency, @DefaultValue("30s") Duration lease,
            @Nullable Duration timeout, @DefaultValue("1m") Duration overdueAfter, @DefaultValue("5") int maxAttempts,
            @DefaultValue("3") int maxLapses, @DefaultValue("drop") ExpiryPolicy expiryPolicy,
            @DefaultValue("true") boolean autoStartup, @Nullable String executor,
            @DefaultValue("20s") Duration shutdownTimeout, @DefaultValue Backoff backoff) {

        public Listener {
            require(isWithin(shutdownTimeout, Duration.ZERO, MessageLimits.MAX_DURATION),
                    "delayqueue.listener.shutdown-timeout", ZERO_OR_MORE, shutdownTimeout);
            require(isWithin(overdueAfter, Duration.ofSeconds(1), MessageLimits.MAX_DURATION),
                    "delayqueue.listener.overdue-after", "1s to %d days".formatted(MessageLimits.MAX_DURATION.toDays()),
                    overdueAfter);
        }

        ListenerSettings settings(@Nullable Queue queue) {
            Queue own = (queue != null) ? queue : Queue.NONE;
            Duration limit = (own.timeout() != null) ? own.timeout() : this.timeout;
            BackoffOfQueue wait = own.backoff();
            BackoffPolicy policy = new BackoffPolicy(either(wait.initial(), this.backoff.initial()),
                    either(wait.multiplier(), this.backoff.multiplier()), either(wait.max(), this.backoff.max()),
                    either(wait.jitter(), this.backoff.jitter()));
            return new ListenerSettings(either(own.concurrency(), this.concurrency), either(own.lease(), this.lease),
                    (limit != null && limit.isZero()) ? null : limit, either(own.maxAttempts(), this.maxAttempts),
                    either(own.maxLapses(), this.maxLapses), policy, either(own.expiryPolicy(), this.expiryPolicy),
                    either(own.autoStartup(), this.autoStartup), Set.of());
        }

        private static <T> T either(@Nullable T first, T second) {
            return (first != null) ? first : second;
        }

    }

    /**
     * Delays between attempts.
     *
     * @param initial Delay after the first failure.
     * @param multiplier Factor of the delay after each further failure, at least 1.
     * @param max Longest delay, before jitter.
     * @param jitter Maximum random fraction by which a delay is lengthened or shortened,
     * 0 to 1.
     */
    public record Backoff(@DefaultValue("1s") Duration initial, @DefaultValue("2") double multiplier,
            @DefaultValue("10m") Duration max, @DefaultValue("0.2") double jitter) {
    }

    /**
     * Settings of one queue; what is not set comes from those of all listeners.
     *
     * @param concurrency Maximum number of messages that a listener of this process
     * handles concurrently.
     * @param lease How long a claimed message is leased.
     * @param timeout Time limit of a handler; zero for no limit.
     * @param maxAttempts Failures after which a message is dead-lettered.
     * @param maxLapses Lapses after a recorded start after which a message is
     * dead-lettered.
     * @param expiryPolicy How to treat a message that was not handled within its time to
     * live.
     * @param autoStartup Whether listeners start with the application.
     * @param backoff Delays between attempts.
     * @param partitions Number of partitions, each with a hash tag of its own. Applies
     * until the queue has more than one; then the number recorded in Redis applies.
     * @param journalMode Kind of records in the database of the application.
     */
    public record Queue(@Nullable Integer concurrency, @Nullable Duration lease, @Nullable Duration timeout,
            @Nullable Integer maxAttempts, @Nullable Integer maxLapses, @Nullable ExpiryPolicy expiryPolicy,
            @Nullable Boolean autoStartup, @DefaultValue BackoffOfQueue backoff, @Nullable Integer partitions,
            @Nullable JournalMode journalMode) {

        static final Queue NONE = new Queue(null, null, null, null, null, null, null,
                new BackoffOfQueue(null, null, null, null), null, null);

    }

    /**
     * Delays between attempts for one queue.
     *
     * @param initial Delay after the first failure.
     * @param multiplier Factor of the delay after each further failure.
     * @param max Longest delay.
     * @param jitter Maximum random fraction by which a delay is lengthened or shortened.
     */
    public record BackoffOfQueue(@Nullable Duration initial, @Nullable Double multiplier, @Nullable Duration max,
            @Nullable Double jitter) {
    }

}
