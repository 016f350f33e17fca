package io.delayqueue.listener;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.ClockJumpLog;
import io.delayqueue.listener.poll.DeadLetterCleaner;
import io.delayqueue.listener.poll.HandlerExecutor;
import io.delayqueue.listener.poll.HandlerMonitor;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.listener.poll.Nanos;
import io.delayqueue.listener.poll.PollLoop;
import io.delayqueue.listener.poll.PollLoopContext;
import io.delayqueue.listener.poll.PrimaryPartitions;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.listener.poll.StoreOutageLog;
import io.delayqueue.store.routing.StoreComponents;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Holds the threads and loops from one start of the {@link DelayedListenerLifecycle} to
 * its stop. Each start creates a new run, so remains of an earlier one cannot interfere.
 * No thread runs before a listener is launched.
 * <p>
 * <strong>Threads.</strong> Any thread launches; one thread stops.
 */
final class ListenerRun {

    /** Extra time for the last acknowledgements after the shutdown timeout. */
    private static final Duration GRACE = Duration.ofMillis(500);

    /** Extra time for interrupted handlers to end and for releasing their messages. */
    private static final Duration INTERRUPT_GRACE = Duration.ofSeconds(1);

    private final StoreComponents store;

    private final PollLoopContext context;

    private final LoopTimer timer;

    private final HandlerExecutor executor;

    /** The ends of running loops. */
    private final Set<CompletableFuture<Void>> ends = ConcurrentHashMap.newKeySet();

    private final List<QueueName> queues = new CopyOnWriteArrayList<>();

    private final DeadLetterCleaner cleaner;

    private final NodeHeartbeat heartbeat;

    private final HandlerMonitor handlers;

    private final ScheduleFiring firing;

    private final AtomicBoolean reports = new AtomicBoolean();

    private volatile boolean retired;

    ListenerRun(StoreComponents store, ApplicationEventPublisher events, ClockJumpLog clocks,
            SharedListenerSettings settings, NodeHeartbeat heartbeat) {
        this.heartbeat = heartbeat;
        this.timer = settings.execution().timers().get();
        this.store = store;
        this.executor = new HandlerExecutor(settings.virtualThreads(), store.messages().isBlocking(),
                settings.execution().executor());
        this.context = new PollLoopContext(store.messages(), events, this.executor, this.timer,
                new StoreOutageLog(System::nanoTime, this.executor::log), clocks, store.partitions(),
                store.wakeUps().announcesPrimaryPollers()
                        ? new PrimaryPartitions(settings.safetyPoll(), this.timer::nanoTime) : null,
                settings, this.timer::nanoTime);
        this.handlers = new HandlerMonitor(this.executor, this.timer::nanoTime, heartbeat.overdueAfter());
        this.cleaner = new DeadLetterCleaner(this.context);
        this.firing = new ScheduleFiring(store.schedules(), store.wakeUps(), this.timer, this.context::runStoreTask,
                settings.safetyPoll(), store.events());
    }

    PollLoopContext context() {
        return this.context;
    }

    /** Starts a loop, whose end a stop awaits. */
    void start(PollLoop loop) {
        CompletableFuture<Void> end = loop.end();
        // Registered before the start, or a stop meanwhile would not wait for it.
        this.ends.add(end);
        end.whenComplete((done, ex) -> this.ends.remove(end));
        loop.start(this.store.wakeUps());
    }

    /** Registers a queue that a listener starts on. */
    void add(QueueName queue) {
        synchronized (this.queues) {
            this.queues.add(queue);
            this.cleaner.add(queue);
            this.firing.add(queue);
        }
        this.store.registrar().register(queue);
        if (this.reports.compareAndSet(false, true)) {
            this.heartbeat.begin();
            this.timer.upkeep(NodeHeartbeat.FIRST, this::report);
            this.timer.every(NodeHeartbeat.PERIOD, this::report);
        }
    }

    /** Returns the queues of running listeners, with repetitions. */
    List<QueueName> queues() {
        return List.copyOf(this.queues);
    }

    /** Unregisters a queue that a listener no longer listens to. */
    void remove(QueueName queue) {
        synchronized (this.queues) {
            this.queues.remove(queue);
            if (!this.queues.contains(queue)) {
                this.cleaner.remove(queue);
                this.firing.remove(queue);
            }
        }
    }

    /** Also registers the queues: at launch, the store may have been unavailable. */
    private void report() {
        this.context.runStoreTask(() -> {
            this.heartbeat.report(this.handlers);
            this.queues.forEach(this.store.registrar()::register);
        });
    }

    /** Prevents further launches by this run. */
    void retire() {
        this.retired = true;
        this.firing.close();
    }

    boolean isRetired() {
        return this.retired;
    }

    /** Waits, after all loops were stopped, for up to the shutdown timeout. */
    void awaitEnd() {
        boolean interrupted = false;
        try {
            CompletableFuture.allOf(this.ends.toArray(CompletableFuture<?>[]::new))
                .get(Nanos.of(this.context.settings().shutdownTimeout().plus(GRACE)), TimeUnit.NANOSECONDS);
        }
        catch (TimeoutException | ExecutionException ex) {
            // Each loop that has not ended logs this.
        }
        catch (InterruptedException ex) {
            interrupted = true;
        }
        try {
            this.executor.interruptHandlers(INTERRUPT_GRACE);
        }
        catch (InterruptedException ex) {
            interrupted = true;
        }
        // Renewal ends last, or handlers that still run would lose their leases.
        this.timer.close();
        this.executor.close();
        if (this.reports.get()) {
            this.heartbeat.withdraw(); // behind the last report
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

}
