package io.delayqueue.web;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.QueueOverview;
import io.delayqueue.QueuePage;
import io.delayqueue.engine.ServerFault;
import io.delayqueue.engine.ServerWatch;
import org.jspecify.annotations.Nullable;

/**
 * All queues at one moment. However many people look, Redis is asked at most once a
 * second, and not by two at a time: who comes while somebody asks shares that answer, be
 * it a failure.
 * <p>
 * <strong>Threads.</strong> Those of requests. The lock is held to see who asks, not
 * while Redis is asked.
 */
final class Glance {

    private static final long KEPT = TimeUnit.SECONDS.toNanos(1);

    private static final long FAULTS_KEPT = TimeUnit.SECONDS.toNanos(20);

    private final DelayQueueInspector inspector;

    private final ServerWatch server;

    private final LongSupplier nanoTime;

    private final TroubleFinder troubles;

    private TroubleFinder.@Nullable Moment clock;

    /** Of the last look at the server that has ended. */
    private List<ServerFault> faults = List.of();

    private CompletableFuture<List<ServerFault>> looking = CompletableFuture.completedFuture(List.of());

    private long lookedAt;

    private CompletableFuture<Sight> answer;

    /** When that was answered. */
    private long at;

    Glance(DelayQueueInspector inspector, ServerWatch server, TroubleFinder troubles, LongSupplier nanoTime) {
        this.inspector = inspector;
        this.server = server;
        this.nanoTime = nanoTime;
        this.troubles = troubles;
        this.at = nanoTime.getAsLong() - KEPT;
        this.lookedAt = nanoTime.getAsLong() - FAULTS_KEPT;
        this.answer = CompletableFuture.failedFuture(new IllegalStateException("Nobody has asked"));
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
            ask(shared);
        }
        try {
            return shared.join();
        }
        catch (CompletionException ex) {
            throw (ex.getCause() instanceof RuntimeException failure) ? failure : ex;
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
        List<QueueOverview> queues = this.inspector.overviews(page.queues());
        long nanos = this.nanoTime.getAsLong();
        Instant now = queues.stream().map(QueueOverview::now).max(Instant::compareTo).orElseGet(() -> estimate(nanos));
        TroubleFinder.Moment moment = new TroubleFinder.Moment(now, asked, nanos);
        this.clock = moment;
        List<Trouble> found = this.troubles.find(queues, this.inspector.nodes(), faults(nanos), moment);
        return new Sight(queues, page.nextCursor() != null, now, found);
    }

    /**
     * Asked now and then, and not waited for: until the answer is there the last one is
     * told.
     */
    private List<ServerFault> faults(long nanos) {
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
        TroubleFinder.Moment before = this.clock;
        return (before != null) ? before.now().plusNanos(nanos - before.nanos()) : Instant.EPOCH;
    }

    /**
     * What was seen.
     *
     * @param queues the queues, by name
     * @param more whether there are more than these
     * @param now the time of Redis
     * @param troubles what is wrong
     */
    record Sight(List<QueueOverview> queues, boolean more, Instant now, List<Trouble> troubles) {
    }

}
