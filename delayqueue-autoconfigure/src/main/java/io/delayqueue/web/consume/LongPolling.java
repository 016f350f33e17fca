package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;

/**
 * Lets any number of requests wait for messages, on one thread. A {@link QueueLongPoller}
 * for each queue polls for its first request whenever something may be due, as a listener
 * does.
 * <p>
 * <strong>Threads.</strong> Any may claim. Pollers are confined to the one thread here,
 * which never waits for the store; the limiters are thread-safe. Start and stop set the
 * thread.
 */
public final class LongPolling {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private final HttpMessageClaimer claimer;

    private final WakeUps wakeUps;

    private final Function<QueueName, ConsumeSettings> settings;

    private final ClaimLimiter waiting;

    /** Limits requests that do not wait, and end as soon as the store has answered. */
    private final ClaimLimiter looking;

    /** Confined to the thread. */
    private final Map<QueueName, QueueLongPoller> lines = new HashMap<>();

    private volatile @Nullable ScheduledThreadPoolExecutor thread;

    LongPolling(HttpMessageClaimer claimer, WakeUps wakeUps, Function<QueueName, ConsumeSettings> settings,
            WaitLimits limits) {
        this.claimer = claimer;
        this.wakeUps = wakeUps;
        this.settings = settings;
        this.waiting = new ClaimLimiter(limits, "waiting");
        this.looking = new ClaimLimiter(limits, "being answered");
    }

    /**
     * Claims messages, or waits for the first.
     * @param limit most messages, 1 to 100
     * @param lease the lease of the messages
     * @param wait longest time to wait; zero to take only messages that are due now
     * @return completes with no message if there was none in time; completing it ends the
     * wait
     */
    public CompletableFuture<List<ClaimedDelivery>> claim(QueueName queue, int limit, Duration lease, Duration wait) {
        ClaimLimiter places = wait.isZero() ? this.looking : this.waiting;
        places.take(queue);
        LongPollRequest poll = new LongPollRequest(limit, lease, this.claimer.now() + wait.toNanos(),
                () -> places.leave(queue));
        if (!execute(() -> join(queue, poll))) {
            poll.answer().complete(List.of());
        }
        return poll.answer();
    }

    private void join(QueueName queue, LongPollRequest poll) {
        if (this.thread == null) {
            poll.answer().complete(List.of());
            return;
        }
        this.lines.computeIfAbsent(queue, (name) -> new QueueLongPoller(name, this.settings.apply(name), this))
            .join(poll);
    }

    public HttpMessageClaimer claimer() {
        return this.claimer;
    }

    WakeUps wakeUps() {
        return this.wakeUps;
    }

    /** Removes a poller that has no requests. */
    void leave(QueueName queue, QueueLongPoller line) {
        this.lines.remove(queue, line);
    }

    /** Runs a task on the thread; returns {@code false} if there is none. */
    boolean execute(Runnable task) {
        ScheduledThreadPoolExecutor current = this.thread;
        try {
            if (current != null) {
                current.execute(task);
                return true;
            }
        }
        catch (RejectedExecutionException ex) {
            // The thread is stopping.
        }
        return false;
    }

    /** Schedules a task on the thread; returns its cancellation. */
    Runnable schedule(Runnable task, long nanos) {
        ScheduledThreadPoolExecutor current = this.thread;
        try {
            if (current != null) {
                ScheduledFuture<?> scheduled = current.schedule(task, nanos, TimeUnit.NANOSECONDS);
                return () -> scheduled.cancel(false);
            }
        }
        catch (RejectedExecutionException ex) {
            // The thread is stopping.
        }
        return () -> {
        };
    }

    public int waiting() {
        return this.waiting.taken();
    }

    void start() {
        ScheduledThreadPoolExecutor created = new ScheduledThreadPoolExecutor(1, (task) -> {
            Thread thread = new Thread(task, "delayqueue-web-polls");
            thread.setDaemon(true);
            return thread;
        });
        created.setRemoveOnCancelPolicy(true);
        created.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.claimer.start();
        this.thread = created;
    }

    boolean isRunning() {
        return this.thread != null;
    }

    /**
     * Answers all waiting requests, and releases the messages that claims still return.
     */
    void stop() {
        ScheduledThreadPoolExecutor last = this.thread;
        if (last == null) {
            return;
        }
        long end = System.nanoTime() + STOP_LIMIT.toNanos();
        this.thread = null;
        List<QueueLongPoller> closed = new ArrayList<>();
        last.execute(() -> {
            closed.addAll(this.lines.values());
            closed.forEach(QueueLongPoller::close);
        });
        last.shutdown();
        try {
            if (last.awaitTermination(STOP_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                CompletableFuture
                    .allOf(closed.stream().map(QueueLongPoller::underWay).toArray(CompletableFuture<?>[]::new))
                    .get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException | TimeoutException ex) {
            // The messages of that claim are left to their leases.
        }
        this.claimer.stop();
    }

}
