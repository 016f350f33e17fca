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
 * One run of the {@link DelayedListenerLifecycle}, from start to stop. A new start is a
 * new run, so what a run before has left behind cannot get in its way. Nothing runs
 * before a listener is launched.
 * <p>
 * <strong>Threads.</strong> Launches come from any thread; the stop from one.
 */
final class ListenerRun {

    /** Room for the last acknowledgements, once the shutdown timeout is over. */
    private static final Duration GRACE = Duration.ofMillis(500);

    /**
     * Room for handlers that were interrupted to end, and to give their messages back.
     */
    private static final Duration INTERRUPT_GRACE = Duration.ofSeconds(1);

    private final ListenerRuntime context;

    private final WakeUps wakeUps;

    private final TimerThread timer = new TimerThread();

    private final HandlerThreads handlerThreads;

    /** Of loops that run. */
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

    /** Notes the queues too: at their launch the store may have been away. */
    private void report() {
        this.context.turn(() -> {
            this.reporter.report();
            this.launched.forEach((loops) -> this.notes.note(loops.name()));
        });
    }

    /** Its end is known before it begins, or a stop meanwhile would not wait for it. */
    private void start(PollLoop loop) {
        CompletableFuture<Void> end = loop.end();
        this.ends.add(end);
        end.whenComplete((done, ex) -> this.ends.remove(end));
        loop.start(this.wakeUps);
    }

    /** No listener is to be launched by it from now on. */
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

    /** Ends all claiming, and does not wait. */
    void stop() {
        stop(List.copyOf(this.launched));
    }

    /** Waits, after {@link #stop()}, as long as the shutdown timeout says. */
    void awaitEnd() {
        Duration limit = this.context.settings().shutdownTimeout().plus(GRACE);
        boolean interrupted = false;
        try {
            CompletableFuture.allOf(this.ends.toArray(CompletableFuture<?>[]::new))
                .get(Nanos.of(limit), TimeUnit.NANOSECONDS);
        }
        catch (TimeoutException | ExecutionException ex) {
            // Told by each loop that has not ended.
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
        // Renewal ends last, or handlers that still ran would have lost their leases.
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
