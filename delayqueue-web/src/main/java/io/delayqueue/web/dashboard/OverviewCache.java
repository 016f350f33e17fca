package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
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
import io.delayqueue.admin.QueueActivity.Lateness;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.ServerIssue;
import io.delayqueue.store.ServerMonitor;
import org.jspecify.annotations.Nullable;

/**
 * Caches the data of the overview for one second, for all users: queues, alerts and
 * lateness. Redis is queried at most once a second, by one read at a time; concurrent
 * requests share its result or failure.
 * <p>
 * <strong>Threads.</strong> Those of requests, which wait a limited time, and one that
 * reads, which ends when idle. The lock guards the check for a read under way, not the
 * read.
 */
final class OverviewCache {

    private static final long MAX_AGE = TimeUnit.SECONDS.toNanos(1);

    /** Duration of a read after which the store counts as not answering. */
    private static final long HANGS = TimeUnit.MILLISECONDS.toNanos(900);

    /** Stays below the timeout of the page. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(10);

    /**
     * Queue names, then counts, which may take two calls for each queue, then nodes, then
     * lateness.
     */
    private static final int CALLS = 5;

    private static final long ISSUES_KEPT = TimeUnit.SECONDS.toNanos(20);

    /** Nodes report their activity about as often. */
    private static final long LATENESS_KEPT = TimeUnit.SECONDS.toNanos(5);

    private final DelayQueueInspector inspector;

    private final ServerMonitor server;

    private final LongSupplier nanoTime;

    private final Duration maxWait;

    private final AlertEvaluator alerts;

    private final Executor reader;

    private AlertEvaluator.@Nullable Moment clock;

    /** Result of the last server check that has ended. */
    private List<ServerIssue> issues = List.of();

    private CompletableFuture<List<ServerIssue>> check = CompletableFuture.completedFuture(List.of());

    private long checkedAt;

    /** The lateness that was read last. Only the thread that reads uses it. */
    private Map<String, Lateness> lateness = Map.of();

    private long latenessReadAt;

    private CompletableFuture<Snapshot> latest;

    /** When the last read was complete. */
    private long readAt;

    /** When the read under way began; {@code null} if there is none. */
    private @Nullable Long pendingSince;

    /**
     * When the first of the reads began that have failed since the last answer;
     * {@code null} if the last read has succeeded.
     */
    private @Nullable Long failingSince;

    private @Nullable String failure;

    /**
     * Creates a cache that has read nothing yet.
     * @param commandTimeout longest time to wait for one call of the store
     */
    OverviewCache(DelayQueueInspector inspector, ServerMonitor server, AlertEvaluator alerts, LongSupplier nanoTime,
            Duration commandTimeout) {
        this(inspector, server, alerts, nanoTime, commandTimeout, new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), DaemonThreads.named("delayqueue-dashboard")));
    }

    /** Creates a cache whose reads run on an executor, one at a time. */
    OverviewCache(DelayQueueInspector inspector, ServerMonitor server, AlertEvaluator alerts, LongSupplier nanoTime,
            Duration commandTimeout, Executor reader) {
        this.reader = reader;
        this.maxWait = maxWait(commandTimeout);
        this.inspector = inspector;
        this.server = server;
        this.nanoTime = nanoTime;
        this.alerts = alerts;
        this.readAt = nanoTime.getAsLong() - MAX_AGE;
        this.checkedAt = nanoTime.getAsLong() - ISSUES_KEPT;
        this.latenessReadAt = nanoTime.getAsLong() - LATENESS_KEPT;
        this.latest = CompletableFuture.failedFuture(new IllegalStateException("Nothing was read yet"));
    }

    /**
     * Returns how long a request waits: long enough to show queues while others hang, and
     * short enough not to hold container threads when the store never answers.
     */
    static Duration maxWait(Duration commandTimeout) {
        Duration calls = commandTimeout.multipliedBy(CALLS);
        return (calls.compareTo(MAX_WAIT) < 0) ? calls : MAX_WAIT;
    }

    Snapshot get() {
        CompletableFuture<Snapshot> shared = current();
        try {
            return shared.get(this.maxWait.toNanos(), TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException ex) {
            throw (ex.getCause() instanceof RuntimeException failure) ? failure : new IllegalStateException(ex);
        }
        catch (TimeoutException ex) {
            throw new StoreUnavailableException(
                    "The queues could not be read within %d ms".formatted(this.maxWait.toMillis()), Effect.NONE, ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted while the queues were read", Effect.NONE, ex);
        }
    }

    /** Returns the last read or the one under way. Starts one if the last is old. */
    private CompletableFuture<Snapshot> current() {
        CompletableFuture<Snapshot> shared;
        synchronized (this) {
            if (!this.latest.isDone() || this.nanoTime.getAsLong() - this.readAt < MAX_AGE) {
                return this.latest;
            }
            shared = new CompletableFuture<>();
            this.latest = shared;
            this.pendingSince = this.nanoTime.getAsLong();
        }
        try {
            this.reader.execute(() -> refresh(shared));
        }
        catch (Throwable ex) { // no thread could be started; the next request tries again
            synchronized (this) {
                this.pendingSince = null;
            }
            shared.completeExceptionally(ex);
        }
        return shared;
    }

    /** Reads the queues; no other read starts before this one has ended. */
    private void refresh(CompletableFuture<Snapshot> refreshed) {
        Snapshot snapshot = null;
        Throwable failed = null;
        try {
            snapshot = read();
        }
        catch (Throwable ex) {
            failed = ex;
        }
        synchronized (this) {
            remember(failed);
            this.readAt = this.nanoTime.getAsLong();
            this.pendingSince = null;
        }
        if (failed != null) {
            refreshed.completeExceptionally(failed);
        }
        else {
            refreshed.complete(snapshot);
        }
    }

    private void remember(@Nullable Throwable failed) {
        if (!(failed instanceof StoreUnavailableException)) { // a refusal is an answer
            this.failingSince = null;
            this.failure = null;
            return;
        }
        this.failure = String.valueOf(failed.getMessage());
        if (this.failingSince == null) {
            this.failingSince = this.pendingSince;
        }
    }

    /**
     * Returns whether the store answers, without waiting for it. Starts a read if the
     * last one is old, so that the next status knows of an outage since then.
     */
    StoreStatus status() {
        current();
        return known();
    }

    private synchronized StoreStatus known() {
        long now = this.nanoTime.getAsLong();
        if (this.failingSince != null) {
            return new StoreStatus(Duration.ofNanos(now - this.failingSince), this.failure);
        }
        if (this.pendingSince != null && now - this.pendingSince >= HANGS) {
            return new StoreStatus(Duration.ofNanos(now - this.pendingSince), null);
        }
        return StoreStatus.ANSWERS;
    }

    private Snapshot read() {
        QueuePage page = this.inspector.queues(null, DelayQueueInspector.MAX_QUEUES);
        long begun = this.nanoTime.getAsLong();
        QueueOverviews read = this.inspector.overviews(page.queues());
        List<QueueOverview> queues = read.overviews();
        long nanos = this.nanoTime.getAsLong();
        Instant now = queues.stream().map(QueueOverview::now).max(Instant::compareTo).orElseGet(() -> estimate(nanos));
        AlertEvaluator.Moment moment = new AlertEvaluator.Moment(now, begun, nanos);
        this.clock = moment;
        List<Alert> found = this.alerts.find(read, nodes(), issues(nanos), moment);
        return new Snapshot(read, page.nextCursor() != null, now, found, lateness(nanos));
    }

    /**
     * Returns how late handlers start on all nodes; empty if that cannot be read, as the
     * page then shows what this node knows.
     */
    private Map<String, Lateness> lateness(long nanos) {
        if (nanos - this.latenessReadAt >= LATENESS_KEPT) {
            try {
                this.lateness = this.inspector.lateness();
            }
            catch (DelayQueueException ex) {
                this.lateness = Map.of();
            }
            this.latenessReadAt = nanos;
        }
        return this.lateness;
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
    private List<ServerIssue> issues(long nanos) {
        if (this.check.isDone() && nanos - this.checkedAt >= ISSUES_KEPT) {
            this.checkedAt = nanos;
            try {
                this.check = this.server.check().exceptionally((ex) -> List.of());
            }
            catch (RuntimeException ex) {
                // An unreachable server is reported elsewhere.
                this.check = CompletableFuture.completedFuture(List.of());
            }
        }
        this.issues = this.check.getNow(this.issues);
        return this.issues;
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
     * @param alerts the alerts
     * @param lateness how late handlers start on all nodes, by queue
     */
    record Snapshot(QueueOverviews read, boolean more, Instant now, List<Alert> alerts,
            Map<String, Lateness> lateness) {
    }

}
