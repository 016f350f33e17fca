package io.delayqueue.store.schedule;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Holds the schedules that this process declares in one store, and the queues in which it
 * has declared or put some. The process fires the schedules of these queues even if it
 * does not listen to them. Thread-safe.
 */
public final class LocalSchedules {

    /** The lateness from which on an occurrence counts as missed, by default. */
    public static final Duration MISFIRE_THRESHOLD = Duration.ofSeconds(60);

    private static final Logger logger = LoggerFactory.getLogger(LocalSchedules.class);

    /** Replaced before it is used, if at all. */
    private volatile ScheduleStore store;

    private final DefinitionCodec codec;

    private final StepPlanner planner;

    private final String node = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX);

    /** How often this process has put, declared or withdrawn schedules in each queue. */
    private final Map<QueueName, Long> queues = new ConcurrentHashMap<>();

    private final Map<QueueName, Map<String, ScheduleDeclaration>> declarations = new ConcurrentHashMap<>();

    private final String application;

    private final List<Watcher> firing = new CopyOnWriteArrayList<>();

    /**
     * Creates it without queues.
     * @param misfireThreshold the lateness from which on an occurrence counts as missed
     * @param application the name of the application that declares schedules; empty for
     * none
     */
    public LocalSchedules(ScheduleStore store, EnvelopeCodec envelopes, Duration misfireThreshold, String application) {
        this.store = store;
        this.codec = new DefinitionCodec(envelopes);
        this.planner = new StepPlanner(this.codec, misfireThreshold);
        this.application = application.trim();
    }

    /** Returns the schedules of a store that does not support them. */
    public static LocalSchedules none() {
        return new LocalSchedules(ScheduleStore.NONE, new EnvelopeCodec(JsonMapper.builder().build()),
                MISFIRE_THRESHOLD, "");
    }

    /** Returns this without its queues and declarations, for another store. */
    public LocalSchedules in(ScheduleStore other) {
        return new LocalSchedules(other, this.codec, this.planner, this.application);
    }

    private LocalSchedules(ScheduleStore store, DefinitionCodec codec, StepPlanner planner, String application) {
        this.store = store;
        this.codec = codec;
        this.planner = planner;
        this.application = application;
    }

    /** Returns the store. */
    public ScheduleStore store() {
        return this.store;
    }

    /** Decorates the store, if that supports schedules. */
    public void wrapStore(UnaryOperator<ScheduleStore> wrapper) {
        if (this.store != ScheduleStore.NONE) {
            this.store = wrapper.apply(this.store);
        }
    }

    /** Returns the codec of definitions. */
    public DefinitionCodec codec() {
        return this.codec;
    }

    /** Returns the planner of steps. */
    public StepPlanner planner() {
        return this.planner;
    }

    /** Returns the name of this process among those that fire. */
    public String node() {
        return this.node;
    }

    /** Returns the name of the application among those that declare schedules. */
    String owner() {
        return isNamed() ? ScheduleState.owner(this.application) : ScheduleState.UNNAMED;
    }

    /** Returns whether the application has a name; without one, nothing is removed. */
    boolean isNamed() {
        return !this.application.isEmpty();
    }

    /**
     * Declares a schedule of this application.
     * @param payload its payload, as JSON
     * @throws IllegalArgumentException if it declares another one of that name, or the
     * payload is not valid
     */
    public void declare(QueueName queue, ScheduleDefinition definition, String payload) {
        ScheduleDeclaration declaration = ScheduleDeclaration.of(definition,
                this.codec.write(definition, DefinitionCodec.requireJson(payload)));
        if (!isNamed() && this.declarations.isEmpty()) {
            logger
                .warn("Schedule '{}' of queue '{}' is declared by an application without a name: all such applications "
                        + "share their schedules, and none is removed when it is no longer declared. Set "
                        + "spring.application.name", definition.name(), queue);
        }
        ScheduleDeclaration before = this.declarations.computeIfAbsent(queue, (key) -> new ConcurrentHashMap<>())
            .putIfAbsent(definition.name(), declaration);
        if (before != null) {
            throw new IllegalArgumentException("name must be unique in queue '%s', but another schedule has '%s'"
                .formatted(queue, definition.name()));
        }
        this.queues.merge(queue, 1L, Long::sum);
        this.firing.forEach((watcher) -> watcher.declared(queue));
    }

    /**
     * Removes the declaration of a schedule, if there is one. A call that is pending may
     * still store the schedule. A schedule that is stored is fired until no node has
     * declared it for an hour, or for an application without a name until it is removed
     * by a call.
     */
    public void withdraw(QueueName queue, String name) {
        // First, as a queue without declarations and additions may be forgotten.
        this.queues.computeIfPresent(queue, (key, additions) -> additions + 1);
        Map<String, ScheduleDeclaration> declared = this.declarations.get(queue);
        if (declared != null) {
            declared.remove(name);
        }
    }

    /** Returns the schedules that are declared for a queue, by their names. */
    Map<String, ScheduleDeclaration> declarations(QueueName queue) {
        return Map.copyOf(this.declarations.getOrDefault(queue, Map.of()));
    }

    /** Records that this process has put a schedule in a queue. */
    public void put(QueueName queue) {
        this.queues.merge(queue, 1L, Long::sum);
        this.firing.forEach((watcher) -> watcher.put(queue));
    }

    /** Returns whether this process has put or declared schedules in a queue. */
    public boolean isAdded(QueueName queue) {
        return this.queues.containsKey(queue);
    }

    /**
     * Returns how often this process has put, declared or withdrawn schedules in a queue.
     */
    public long additions(QueueName queue) {
        return this.queues.getOrDefault(queue, 0L);
    }

    /**
     * Forgets a queue that has no schedules, unless this process declares some, or has
     * put some since.
     * @param additions how many there were before the queue was found empty
     */
    public void forget(QueueName queue, long additions) {
        if (declarations(queue).isEmpty()) {
            this.queues.remove(queue, additions);
        }
    }

    /** Returns whether the schedules of added queues are fired here. */
    boolean isFiring() {
        return !this.firing.isEmpty();
    }

    /**
     * Passes on the queues that were added, and those that will be.
     * @return ends it
     */
    public Runnable watch(Watcher watcher) {
        this.firing.add(watcher);
        this.queues.keySet().forEach(watcher::declared);
        return () -> this.firing.remove(watcher);
    }

    /** Is notified of queues whose schedules this process fires. */
    public interface Watcher {

        /** Fires the schedules of a queue, and declares those of this application. */
        void declared(QueueName queue);

        /** Fires the schedules of a queue, of which one was put. */
        void put(QueueName queue);

    }

}
