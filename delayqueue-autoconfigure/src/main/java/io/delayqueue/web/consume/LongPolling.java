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
 * Lets requests wait for messages, any number of them on one thread. Those that wait for
 * a queue stand in line; the line looks when something may be due, as a listener does,
 * for the first of them.
 * <p>
 * <strong>Threads.</strong> Any may claim. Lines live on the one thread here, which never
 * waits for the store; how many wait is atomic. What starts and stops sets the thread.
 */
public final class LongPolling {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private final HttpMessageClaimer claimer;

    private final WakeUps wakeUps;

    private final Function<QueueName, ConsumeSettings> settings;

    private final ClaimLimiter waiting;

    /** Of those that do not wait, and leave as soon as the store has answered. */
    private final ClaimLimiter looking;

    /** Of the thread alone. */
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
     * @param lease how long they are the caller's
     * @param wait longest time to wait; zero to take only what is due now
     * @return completes with no message if there was none in time; who completes it ends
     * the wait
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

    /** A line that nobody stands in any more. */
    void leave(QueueName queue, QueueLongPoller line) {
        this.lines.remove(queue, line);
    }

    /** Has the thread do it; {@code false} if there is none. */
    boolean execute(Runnable task) {
        ScheduledThreadPoolExecutor current = this.thread;
        try {
            if (current != null) {
                current.execute(task);
                return true;
            }
        }
        catch (RejectedExecutionException ex) {
            // It ends.
        }
        return false;
    }

    /** Has the thread do it later; returns what calls it off. */
    Runnable schedule(Runnable task, long nanos) {
        ScheduledThreadPoolExecutor current = this.thread;
        try {
            if (current != null) {
                ScheduledFuture<?> scheduled = current.schedule(task, nanos, TimeUnit.NANOSECONDS);
                return () -> scheduled.cancel(false);
            }
        }
        catch (RejectedExecutionException ex) {
            // It ends.
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

    /** Answers all that wait; what claims still bring is given back by the end of it. */
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
            // What it may have brought is left to its lease.
        }
        this.claimer.stop();
    }

}
