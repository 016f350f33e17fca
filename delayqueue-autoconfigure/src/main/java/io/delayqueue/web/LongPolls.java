package io.delayqueue.web;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.engine.WakeUps;
import io.delayqueue.web.Problem.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests wait for messages, any number of them on one thread. Those that wait for
 * a queue stand in line; the line looks when something may be due, as a listener does,
 * for the first of them.
 * <p>
 * <strong>Threads.</strong> Any may claim. Lines live on the one thread here, which never
 * waits for the store; how many wait is atomic. What starts and stops sets the thread.
 */
final class LongPolls {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private final Claimer claimer;

    private final WakeUps wakeUps;

    private final Function<QueueName, ConsumeSettings> settings;

    private final int maxWaiting;

    private final AtomicInteger waiting = new AtomicInteger();

    /** Of the thread alone. */
    private final Map<QueueName, PollLine> lines = new HashMap<>();

    private volatile @Nullable ScheduledThreadPoolExecutor thread;

    LongPolls(Claimer claimer, WakeUps wakeUps, Function<QueueName, ConsumeSettings> settings, int maxWaiting) {
        this.claimer = claimer;
        this.wakeUps = wakeUps;
        this.settings = settings;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Claims messages, or waits for the first.
     * @param limit most messages, 1 to 100
     * @param lease how long they are the caller's
     * @param wait longest time to wait; zero to take only what is due now
     * @return completes with no message if there was none in time
     */
    CompletableFuture<List<TakenMessage>> claim(QueueName queue, int limit, Duration lease, Duration wait) {
        if (this.waiting.incrementAndGet() > this.maxWaiting) {
            this.waiting.decrementAndGet();
            throw new ProblemException(new Problem(Kind.TOO_MANY_WAITING,
                    "%d claims are waiting already (delayqueue.web.api.max-waiting)".formatted(this.maxWaiting)));
        }
        Poll poll = new Poll(limit, lease, this.claimer.now() + wait.toNanos());
        poll.answer().whenComplete((messages, failure) -> this.waiting.decrementAndGet());
        if (!execute(() -> join(queue, poll))) {
            poll.answer().complete(List.of());
        }
        return poll.answer();
    }

    private void join(QueueName queue, Poll poll) {
        if (this.thread == null) {
            poll.answer().complete(List.of());
            return;
        }
        this.lines.computeIfAbsent(queue, (name) -> new PollLine(name, this.settings.apply(name), this)).join(poll);
    }

    Claimer claimer() {
        return this.claimer;
    }

    WakeUps wakeUps() {
        return this.wakeUps;
    }

    /** A line that nobody stands in any more. */
    void leave(QueueName queue, PollLine line) {
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

    int waiting() {
        return this.waiting.get();
    }

    void start() {
        ScheduledThreadPoolExecutor created = new ScheduledThreadPoolExecutor(1, (task) -> {
            Thread thread = new Thread(task, "delayqueue-web-polls");
            thread.setDaemon(true);
            return thread;
        });
        created.setRemoveOnCancelPolicy(true);
        created.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.thread = created;
    }

    boolean isRunning() {
        return this.thread != null;
    }

    /** Answers all that wait; what claims still bring is given back. */
    void stop() {
        ScheduledThreadPoolExecutor last = this.thread;
        if (last == null) {
            return;
        }
        this.thread = null;
        last.execute(() -> List.copyOf(this.lines.values()).forEach(PollLine::close));
        last.shutdown();
        try {
            last.awaitTermination(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}
