package io.delayqueue.web.api;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.store.DaemonThreads;

/**
 * Caches the groups of dead letters for some seconds, as each is a walk through thousands
 * of them. Concurrent requests for a queue share one walk, and its failure.
 * <p>
 * <strong>Threads.</strong> Those of requests, which wait a limited time, and two that
 * walk, which end when idle. The lock is not held during a walk.
 */
final class DeadLetterCauseCache {

    static final long MAX_AGE = TimeUnit.SECONDS.toNanos(5);

    /** Stays below the timeout of the dashboard. */
    static final Duration MAX_WAIT = Duration.ofSeconds(10);

    private static final int MAX_ENTRIES = 50;

    private static final int THREADS = 2;

    private final DelayQueueInspector inspector;

    private final LongSupplier nanoTime;

    private final Duration maxWait;

    private final ThreadPoolExecutor walkers = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(), DaemonThreads.named("delayqueue-causes"));

    /** The latest walks, the oldest first; guarded by this object. */
    private final Map<Key, Entry> entries = new LinkedHashMap<>();

    DeadLetterCauseCache(DelayQueueInspector inspector, LongSupplier nanoTime, Duration maxWait) {
        this.inspector = inspector;
        this.nanoTime = nanoTime;
        this.maxWait = maxWait;
        this.walkers.allowCoreThreadTimeOut(true);
    }

    DeadLetterCauses get(String queue, boolean byType) {
        Key key = new Key(queue, byType);
        Entry mine = new Entry(new CompletableFuture<>(), new AtomicLong(this.nanoTime.getAsLong()));
        Entry known = knownOr(key, mine);
        if (known == mine) {
            begin(key, mine);
        }
        try {
            return known.causes().get(this.maxWait.toNanos(), TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException ex) {
            throw (ex.getCause() instanceof RuntimeException failure) ? failure : new IllegalStateException(ex);
        }
        catch (TimeoutException ex) {
            throw new StoreUnavailableException("The dead letters of queue '%s' could not be grouped within %d ms"
                .formatted(queue, this.maxWait.toMillis()), Effect.NONE, ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted while dead letters were grouped", Effect.NONE, ex);
        }
    }

    private void begin(Key key, Entry mine) {
        try {
            this.walkers.execute(() -> walk(key, mine));
        }
        catch (Throwable ex) {
            failed(key, mine, ex); // or requests would wait for it
        }
    }

    private synchronized Entry knownOr(Key key, Entry mine) {
        Entry known = this.entries.get(key);
        if (known != null && (!known.causes().isDone() || mine.since().get() - known.since().get() < MAX_AGE)) {
            return known;
        }
        this.entries.remove(key);
        this.entries.put(key, mine);
        if (this.entries.size() > MAX_ENTRIES) {
            this.entries.remove(this.entries.keySet().iterator().next());
        }
        return mine;
    }

    private void walk(Key key, Entry mine) {
        try {
            DeadLetterCauses causes = this.inspector.deadLetterCauses(key.queue(), key.byType());
            mine.since().set(this.nanoTime.getAsLong());
            mine.causes().complete(causes);
        }
        catch (Throwable ex) {
            failed(key, mine, ex);
        }
    }

    private void failed(Key key, Entry mine, Throwable failure) {
        synchronized (this) {
            this.entries.remove(key, mine);
        }
        mine.causes().completeExceptionally(failure);
    }

    /** Forgets a queue whose dead letters were changed here. */
    synchronized void forget(String queue) {
        this.entries.keySet().removeIf((key) -> key.queue().equals(queue));
    }

    private record Key(String queue, boolean byType) {
    }

    /**
     * Holds the result of a walk, complete when it has ended, and since when: before
     * that, when it began.
     */
    private record Entry(CompletableFuture<DeadLetterCauses> causes, AtomicLong since) {
    }

}
