package io.delayqueue.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

import io.delayqueue.MessageLimits;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.DelayQueueTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * Puts the parts of an application context into virtual time. For the auto-configuration
 * only; tests use the {@link DelayQueueTester}.
 */
public final class VirtualTimeRuntime {

    /** Deliveries of one call of the tester, beyond which it fails. */
    static final int MAX_DELIVERIES = 100_000;

    private static final String HANDLER_THREADS = "delayqueue-handler-";

    private final VirtualTimeEngine.Parts parts;

    private final HandlerProbe probe;

    private final @Nullable Instant startAt;

    private final Duration quietTimeout;

    private @Nullable VirtualTimeMessageStore store;

    private @Nullable ListenerMessageStore listenerStore;

    private @Nullable VirtualTimeLayoutStore layoutStore;

    private volatile long clears;

    /**
     * Creates a runtime.
     * @param startAt the time at which each test begins; {@code null} for the real time
     * @param quietTimeout how long a call waits for handlers while none of them ends
     */
    public VirtualTimeRuntime(@Nullable Instant startAt, Duration quietTimeout) {
        this.startAt = startAt;
        this.parts = new VirtualTimeEngine.Parts(new VirtualTime(VirtualTime.begin(startAt)), MAX_DELIVERIES);
        this.probe = new HandlerProbe(this.parts.quietDetector(), this.parts.faults());
        this.quietTimeout = quietTimeout;
    }

    /** Returns the time of the store, in microseconds since the epoch. */
    public LongSupplier storeTime() {
        return this.parts.time();
    }

    /** Returns a runner whose scripts read virtual time. */
    public ScriptRunner scripts(ScriptRunner redis) {
        return new VirtualTimeScriptRunner(redis, this.parts.time());
    }

    /** Returns a clock that follows virtual time. */
    public Clock clock(ZoneId zone) {
        return this.parts.time().clock(zone);
    }

    /**
     * Returns a clock that makes each queue be registered again once the namespace was
     * emptied.
     */
    public LongSupplier registrarTime() {
        return () -> System.nanoTime() + this.clears * Duration.ofHours(1).toNanos();
    }

    /**
     * Returns the store for all callers but listeners.
     * @param registrar registers queues again after the namespace was emptied
     */
    public StoreComponents components(StoreComponents components, QueueRegistrar registrar) {
        VirtualTimeMessageStore store = new VirtualTimeMessageStore(components.messages(), this.parts);
        this.store = store;
        return new StoreComponents(store, components.inspector(), this.parts.wakeUps().forCallers(),
                components.partitions(), components.events(), registrar,
                components.schedules().in(new VirtualTimeScheduleStore(components.schedules().store(), this.parts)));
    }

    /**
     * Returns the store for listeners.
     * @param components the store for other callers
     */
    public StoreComponents listenerComponents(StoreComponents components) {
        ListenerMessageStore store = new ListenerMessageStore(components, this.parts);
        this.listenerStore = store;
        this.probe.store(store);
        return new StoreComponents(store, components.inspector(), this.parts.wakeUps().forLoops(),
                components.partitions(), components.events(), components.registrar(), components.schedules());
    }

    /** Returns a store of layouts whose changes wake the loops of this process. */
    public PartitionLayoutStore layouts(PartitionLayoutStore layouts) {
        VirtualTimeLayoutStore store = new VirtualTimeLayoutStore(layouts, this.parts);
        this.layoutStore = store;
        return store;
    }

    /** Returns a factory of handlers that this runtime observes. */
    public HandlerMethodFactory handlers(HandlerMethodFactory handlers) {
        return handlers.decoratedBy(this.probe);
    }

    /**
     * Returns settings with timers in virtual time, without the waits that only real time
     * would end, and with an executor whose tasks are known.
     */
    public SharedListenerSettings settings(SharedListenerSettings settings) {
        HandlerExecution execution = settings.execution();
        Executor executor = (execution.executor() != null) ? execution.executor()
                : settings.virtualThreads() ? new VirtualThreadTaskExecutor(HANDLER_THREADS) : threads();
        return new SharedListenerSettings(
                settings.shutdownTimeout(), MessageLimits.MAX_DURATION, settings.deadLetterRetention(),
                settings.virtualThreads(), new HandlerExecution(this.parts.quietDetector().track(executor),
                        execution.decorator(), this.parts.timers()::create, this.parts.time()::nanoTime),
                Duration.ZERO);
    }

    private static Executor threads() {
        AtomicInteger count = new AtomicInteger();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        ThreadFactory factory = (task) -> {
            Thread thread = new HandlerThread(task, HANDLER_THREADS + count.incrementAndGet());
            thread.setContextClassLoader(loader);
            return thread;
        };
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
    }

    /**
     * Creates the tester of an application.
     * @param namespace empties the namespace
     */
    public DelayQueueTester tester(Application application, TestNamespace namespace) {
        DelayedListenerRegistry registry = application.registry();
        StoreComponents components = application.components();
        return new DelayQueueTester(
                new VirtualTimeEngine(this.parts, registry, application.listeners(), this.quietTimeout), this.probe,
                new DelayQueueTester.Context(registry, application.operations(), application.reader(),
                        components.partitions(), this.parts.faults(), this.startAt,
                        () -> clear(namespace, components.partitions())));
    }

    private void clear(TestNamespace namespace, PartitionLayouts layouts) {
        if (this.layoutStore != null) {
            this.layoutStore.takePaused().forEach((queue) -> layouts.resume(queue).join());
        }
        namespace.clear();
        this.clears = this.clears + 1;
        if (this.store != null) {
            this.store.clear();
        }
        if (this.listenerStore != null) {
            this.listenerStore.clear();
        }
    }

    /**
     * Holds the beans of an application that the tester uses.
     *
     * @param listeners starts and stops the listeners
     */
    public record Application(DelayedListenerRegistry registry, DelayedListenerLifecycle listeners,
            DelayQueueTemplate operations, Reader reader, StoreComponents components) {
    }

    /**
     * Holds the beans of an application that read queues.
     *
     * @param partitions counts the messages of a partition
     * @param queues lists the messages of a queue
     * @param codec writes and reads payloads
     */
    public record Reader(QueueInspector partitions, DelayQueueInspector queues, EnvelopeCodec codec) {
    }

}
