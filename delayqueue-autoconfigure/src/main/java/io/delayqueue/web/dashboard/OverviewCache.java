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
 * Reads all queues at one moment. However many people look, Redis is asked at most once a
 * second, and not twice at a time: requests that come meanwhile share that answer, be it
 * a failure.
 * <p>
 * <strong>Threads.</strong> Those of requests, and one that reads, which ends when it has
 * nothing to do: a request waits for it only so long. The lock is held to see whether
 * somebody reads, not while Redis is asked.
 */
final class OverviewCache {

    private static final long KEPT = TimeUnit.SECONDS.toNanos(1);

    /** Less than the page waits for an answer. */
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

    /** Of the last look at the server that has ended. */
    private List<ServerIssue> faults = List.of();

    private CompletableFuture<List<ServerIssue>> looking = CompletableFuture.completedFuture(List.of());

    private long lookedAt;

    private CompletableFuture<Sight> answer;

    /** When that was answered. */
    private long at;

    /**
     * Creates one that has read nothing yet.
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
     * How long a request waits: long enough for queues to be shown while others hang, and
     * never so long that threads of the container are held by a store that does not
     * answer at all.
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

    /** One at a time, as nobody else does before the answer is there. */
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
     * Asked now and then, and not waited for: until the answer is there the last one is
     * told.
     */
    private List<ServerIssue> faults(long nanos) {
        if (this.looking.isDone() && nanos - this.lookedAt >= FAULTS_KEPT) {
            this.lookedAt = nanos;
            try {
                this.looking = this.server.look().exceptionally((ex) -> List.of());
            }
            catch (RuntimeException ex) {
                // That it does not answer is told elsewhere.
                this.looking = CompletableFuture.completedFuture(List.of());
            }
        }
        this.faults = this.looking.getNow(this.faults);
        return this.faults;
    }

    /** Without queues there is nobody to ask; the page needs some time to begin with. */
    private Instant estimate(long nanos) {
        AlertEvaluator.Moment before = this.clock;
        return (before != null) ? before.now().plusNanos(nanos - before.nanos()) : Instant.EPOCH;
    }

    /**
     * What was seen.
     *
     * @param read the queues, by name, and which could not be read
     * @param more whether there are more than these
     * @param now the time of Redis
     * @param troubles what is wrong
     */
    record Sight(QueueOverviews read, boolean more, Instant now, List<Alert> troubles) {
    }

}
