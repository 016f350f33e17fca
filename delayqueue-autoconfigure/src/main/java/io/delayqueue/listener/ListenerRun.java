package io.delayqueue.listener;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.listener.poll.ClockJumpDetector;
import io.delayqueue.listener.poll.DeadLetterCleaner;
import io.delayqueue.listener.poll.HandlerThreads;
import io.delayqueue.listener.poll.ListenerEndpoint;
import io.delayqueue.listener.poll.ListenerRuntime;
import io.delayqueue.listener.poll.ListenerRuntimeSettings;
import io.delayqueue.listener.poll.Nanos;
import io.delayqueue.listener.poll.PartitionPollLoops;
import io.delayqueue.listener.poll.PollLoop;
import io.delayqueue.listener.poll.PrimaryPartitions;
import io.delayqueue.listener.poll.StoreOutageLog;
import io.delayqueue.listener.poll.TimerThread;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.store.routing.QueueRegistrar;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Runs the listeners from one start of the {@link DelayedListenerLifecycle} to its stop.
 * Each start creates a new run, so remains of an earlier one cannot interfere. No thread
 * runs before a listener is launched.
 * <p>
 * <strong>Threads.</strong> Any thread launches; one thread stops.
 */
final class ListenerRun {

    /** Extra time for the last acknowledgements after the shutdown timeout. */
    private static final Duration GRACE = Duration.ofMillis(500);

    /** Extra time for interrupted handlers to end and to give their messages back. */
    private static final Duration INTERRUPT_GRACE = Duration.ofSeconds(1);

    private final ListenerRuntime context;

    private final WakeUps wakeUps;

    private final TimerThread timer = new TimerThread();

    private final HandlerThreads handlerThreads;

    /** The ends of running loops. */
    private final Set<CompletableFuture<Void>> ends = ConcurrentHashMap.newKeySet();

    private final Set<PartitionPollLoops> launched = ConcurrentHashMap.newKeySet();

    private final DeadLetterCleaner housekeeping;

    private final QueueRegistrar notes;

    private final NodeHeartbeat reporter;

    private final AtomicBoolean reports = new AtomicBoolean();

    private volatile boolean retired;

    ListenerRun(DelayQueueStore ports, ApplicationEventPublisher events, ClockJumpDetector clocks,
            ListenerRuntimeSettings settings, NodeHeartbeat reporter) {
        this.reporter = reporter;
        this.wakeUps = ports.wakeUps();
        this.notes = ports.notes();
        this.handlerThreads = new HandlerThreads(settings.virtualThreads(), ports.messages().waits(),
                settings.execution().executor());
        this.context = new ListenerRuntime(ports.messages(), events, this.handlerThreads, this.timer,
                new StoreOutageLog(System::nanoTime, this.handlerThreads::log), clocks, ports.partitions(),
                this.wakeUps.tellsOfKeepers() ? new PrimaryPartitions(settings.safetyPoll(), System::nanoTime) : null,
                settings, System::nanoTime);
        this.housekeeping = new DeadLetterCleaner(this.context);
    }

    List<PartitionPollLoops> launch(List<ListenerEndpoint> queues, boolean paused) {
        List<PartitionPollLoops> launched = new ArrayList<>();
        for (ListenerEndpoint queue : queues) {
            PartitionPollLoops loops = new PartitionPollLoops(queue, this.context, this::start);
            this.launched.add(loops);
            loops.start(paused);
            this.housekeeping.add(queue.name());
            this.notes.note(queue.name());
            launched.add(loops);
        }
        if (this.reports.compareAndSet(false, true)) {
            this.timer.after(NodeHeartbeat.FIRST, this::report);
            this.timer.every(NodeHeartbeat.PERIOD, this::report);
        }
        return launched;
    }

    /** Also registers the queues: at launch, the store may have been unavailable. */
    private void report() {
        this.context.turn(() -> {
            this.reporter.report();
            this.launched.forEach((loops) -> this.notes.note(loops.name()));
        });
    }

    /** Registers the end before the start, or a stop meanwhile would not wait for it. */
    private void start(PollLoop loop) {
        CompletableFuture<Void> end = loop.end();
        this.ends.add(end);
        end.whenComplete((done, ex) -> this.ends.remove(end));
        loop.start(this.wakeUps);
    }

    /** Prevents further launches by this run. */
    void retire() {
        this.retired = true;
    }

    boolean isRetired() {
        return this.retired;
    }

    void stop(List<PartitionPollLoops> loops) {
        loops.forEach((queue) -> queue.stop(this.context.settings().shutdownTimeout()));
        loops.forEach(this.launched::remove);
    }

    /** Ends all claiming without waiting. */
    void stop() {
        stop(List.copyOf(this.launched));
    }

    /** Waits, after {@link #stop()}, for up to the shutdown timeout. */
    void awaitEnd() {
        Duration limit = this.context.settings().shutdownTimeout().plus(GRACE);
        boolean interrupted = false;
        try {
            CompletableFuture.allOf(this.ends.toArray(CompletableFuture<?>[]::new))
                .get(Nanos.of(limit), TimeUnit.NANOSECONDS);
        }
        catch (TimeoutException | ExecutionException ex) {
            // Each loop that has not ended logs this.
        }
        catch (InterruptedException ex) {
            interrupted = true;
        }
        try {
            this.handlerThreads.interrupt(INTERRUPT_GRACE);
        }
        catch (InterruptedException ex) {
            interrupted = true;
        }
        // Renewal ends last, or handlers that still run would lose their leases.
        this.timer.close();
        this.handlerThreads.close();
        if (this.reports.get()) {
            this.reporter.withdraw(); // behind the last report
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

}
