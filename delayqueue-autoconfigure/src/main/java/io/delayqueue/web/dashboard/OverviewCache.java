package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.store.ServerMonitor;
import org.jspecify.annotations.Nullable;

/**
 * Caches one read of all queues for all users. Redis is queried at most once a second, by
 * one read at a time; concurrent requests share its result or failure.
 * <p>
 * <strong>Threads.</strong> Those of requests, which wait a limited time, and one that
 * reads, which ends when idle. The lock guards the check for a read under way, not the
 * read.
 */
final class OverviewCache {

    private static final long KEPT = TimeUnit.SECONDS.toNanos(1);

    /** Stays below the timeout of the page. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    /** Queue names, then counts, which may take two calls for each queue, then nodes. */
    private static final int CALLS = 4;

    private static final long FAULTS_KEPT = TimeUnit.SECONDS.toNanos(20);

    private final DelayQueueInspector inspector;

    private final ServerMonitor server;

    private final LongSupplier nanoTime;

    private final Duration patience;

    private final AlertEvaluator troubles;

    private final ThreadPoolExecutor reader = new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(), (task) -> {
                Thread thread = new Thread(task, "delayqueue-dashboard");
                thread.setDaemon(true);
                return thread;
            });

    private AlertEvaluator.@Nullable Moment clock;

    /** Result of the last server check that has ended. */
    private List<ServerIssue> faults = List.of();

    private CompletableFuture<List<ServerIssue>> looking = CompletableFuture.completedFuture(List.of());

    private long lookedAt;

    private CompletableFuture<Sight> answer;

    /** When the last answer was complete. */
    private long at;

    /**
     * Creates a cache that has read nothing yet.
     * @param commandTimeout longest time to wait for one call of the store
     */
    OverviewCache(DelayQueueInspector inspector, ServerMonitor server, AlertEvaluator troubles, LongSupplier nanoTime,
            Duration commandTimeout) {
        this.patience = patience(commandTimeout);
        this.inspector = inspector;
        this.server = server;
        this.nanoTime = nanoTime;
        this.troubles = troubles;
        this.at = nanoTime.getAsLong() - KEPT;
        this.lookedAt = nanoTime.getAsLong() - FAULTS_KEPT;
        this.answer = CompletableFuture.failedFuture(new IllegalStateException("Nobody has asked"));
    }

    /**
     * Returns how long a request waits: long enough to show queues while others hang, and
     * short enough not to hold container threads when the store never answers.
     */
    static Duration patience(Duration commandTimeout) {
        Duration calls = commandTimeout.multipliedBy(CALLS);
        return (calls.compareTo(LONGEST_WAIT) < 0) ? calls : LONGEST_WAIT;
    }

    Sight look() {
        CompletableFuture<Sight> shared;
        boolean asks = false;
        synchronized (this) {
            if (this.answer.isDone() && this.nanoTime.getAsLong() - this.at >= KEPT) {
                this.answer = new CompletableFuture<>();
                asks = true;
            }
            shared = this.answer;
        }
        if (asks) {
            this.reader.execute(() -> ask(shared));
        }
        try {
            return shared.get(this.patience.toNanos(), TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException ex) {
            throw (ex.getCause() instanceof RuntimeException failure) ? failure : new IllegalStateException(ex);
        }
        catch (TimeoutException ex) {
            throw new StoreUnavailableException(
                    "The queues could not be read within %d ms".formatted(this.patience.toMillis()), Effect.NONE, ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted while the queues were read", Effect.NONE, ex);
        }
    }

    /** Reads the queues; no other read starts before this one has ended. */
    private void ask(CompletableFuture<Sight> asked) {
        Sight sight = null;
        Throwable failed = null;
        try {
            sight = see();
        }
        catch (Throwable ex) {
            failed = ex;
        }
        synchronized (this) {
            this.at = this.nanoTime.getAsLong();
        }
        if (failed != null) {
            asked.completeExceptionally(failed);
        }
        else {
            asked.complete(sight);
        }
    }

    private Sight see() {
        QueuePage page = this.inspector.queues(null, DelayQueueInspector.MOST_QUEUES);
        long asked = this.nanoTime.getAsLong();
        QueueOverviews read = this.inspector.overviews(page.queues());
        List<QueueOverview> queues = read.overviews();
        long nanos = this.nanoTime.getAsLong();
        Instant now = queues.stream().map(QueueOverview::now).max(Instant::compareTo).orElseGet(() -> estimate(nanos));
        AlertEvaluator.Moment moment = new AlertEvaluator.Moment(now, asked, nanos);
        this.clock = moment;
        List<Alert> found = this.troubles.find(read, nodes(), faults(nanos), moment);
        return new Sight(read, page.nextCursor() != null, now, found);
    }

    private @Nullable List<NodeStatus> nodes() {
        try {
            return this.inspector.nodes();
        }
        catch (DelayQueueException ex) {
            return null;
        }
    }

    /**
     * Returns the last known issues. Starts a check every 20 seconds, without waiting for
     * it.
     */
    private List<ServerIssue> faults(long nanos) {
        if (this.looking.isDone() && nanos - this.lookedAt >= FAULTS_KEPT) {
            this.lookedAt = nanos;
            try {
                this.looking = this.server.look().exceptionally((ex) -> List.of());
            }
            catch (RuntimeException ex) {
                // An unreachable server is reported elsewhere.
                this.looking = CompletableFuture.completedFuture(List.of());
            }
        }
        this.faults = this.looking.getNow(this.faults);
        return this.faults;
    }

    /**
     * Estimates the time of Redis if there are no queues, because the page needs one.
     */
    private Instant estimate(long nanos) {
        AlertEvaluator.Moment before = this.clock;
        return (before != null) ? before.now().plusNanos(nanos - before.nanos()) : Instant.EPOCH;
    }

    /**
     * Holds the result of a read.
     *
     * @param read the queues, by name, and those that could not be read
     * @param more whether there are more than these
     * @param now the time of Redis
     * @param troubles the alerts
     */
    record Sight(QueueOverviews read, boolean more, Instant now, List<Alert> troubles) {
    }

}
