package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.web.http.Json;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Publishes events, and logs, for callers that must not be blocked: the thread of the
 * store's connection, and the one that lets claims wait. Events of one kind are published
 * one after the other, in their order. What cannot be published, as a listener hangs and
 * too many events wait for it, is logged instead.
 * <p>
 * <strong>Threads.</strong> One for each kind of events, and one that logs, as an
 * appender may block; each ends when it has nothing to do. Any may call, and waits for
 * nothing. Its life ends after that of the web server, so that what the last requests did
 * is published too.
 */
public final class AsyncEventPublisher implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(AsyncEventPublisher.class);

    private static final int MOST_UNTOLD = 10_000;

    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private static final int MAX_LINE = 4000;

    private static final int PHASE = DEFAULT_PHASE - 4096;

    private final ApplicationEventPublisher events;

    private final int mostUntold;

    private final Duration stopLimit;

    private final AtomicInteger untold = new AtomicInteger();

    private final AtomicInteger unlogged = new AtomicInteger();

    private volatile @Nullable Threads threads;

    /** Makes one that tells nothing before its start. */
    public AsyncEventPublisher(ApplicationEventPublisher events) {
        this(events, MOST_UNTOLD, STOP_LIMIT);
    }

    /**
     * The same with other bounds.
     * @param mostUntold most events of a kind that wait for their listeners
     * @param stopLimit how long a stop waits for the listeners of a kind
     */
    AsyncEventPublisher(ApplicationEventPublisher events, int mostUntold, Duration stopLimit) {
        this.events = events;
        this.mostUntold = mostUntold;
        this.stopLimit = stopLimit;
    }

    /** For the audit: tells of a change. */
    public void tell(AuditedOperationEvent audited) {
        Threads current = this.threads;
        execute((current != null) ? current.audit() : null, audited, audited);
    }

    /** Tells of a dead letter, whose death is logged already. */
    public void tell(DeadLetterEvent death) {
        Threads current = this.threads;
        execute((current != null) ? current.deaths() : null, death, "DeadLetterEvent of " + death.letterId());
    }

    private void execute(@Nullable ThreadPoolExecutor thread, Object event, Object summary) {
        try {
            if (thread != null) {
                this.untold.incrementAndGet();
                thread.execute(new Telling(event, summary));
                return;
            }
        }
        catch (RejectedExecutionException ex) {
            this.untold.decrementAndGet();
        }
        log(() -> logUntold(summary));
    }

    /**
     * Has a line logged. If more lines wait for that than events may wait, it is only
     * counted.
     * @param line logs it
     */
    void log(Runnable line) {
        Threads current = this.threads;
        if (current == null) {
            line.run();
            return;
        }
        try {
            current.log().execute(() -> {
                line.run();
                int lost = this.unlogged.getAndSet(0);
                if (lost > 0) {
                    logger.error("{} lines were not logged here, as logging is behind", lost);
                }
            });
        }
        catch (RejectedExecutionException ex) {
            this.unlogged.incrementAndGet();
        }
    }

    private static void logUntold(Object summary) {
        logger.error("Listeners were not told, as they are behind or the application ends: {}",
                Json.line(String.valueOf(summary), MAX_LINE));
    }

    /** How many events listeners are still to be told. */
    int untold() {
        return this.untold.get();
    }

    @Override
    public void start() {
        this.threads = new Threads(thread("delayqueue-web-audit"), thread("delayqueue-web-deaths"),
                thread("delayqueue-web-log"));
    }

    private ThreadPoolExecutor thread(String name) {
        ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(this.mostUntold), (task) -> {
                    Thread created = new Thread(task, name);
                    created.setDaemon(true);
                    return created;
                });
        thread.allowCoreThreadTimeOut(true);
        return thread;
    }

    /** Gives listeners some time for what they were not told yet, and logs the rest. */
    @Override
    public void stop() {
        Threads last = this.threads;
        this.threads = null;
        if (last != null) {
            for (ThreadPoolExecutor thread : List.of(last.audit(), last.deaths())) {
                for (Runnable task : end(thread)) {
                    this.untold.decrementAndGet();
                    logUntold(((Telling) task).summary);
                }
            }
            end(last.log());
        }
    }

    /** Ends a thread; returns what it has not done. */
    private List<Runnable> end(ThreadPoolExecutor thread) {
        thread.shutdown();
        try {
            if (thread.awaitTermination(this.stopLimit.toNanos(), TimeUnit.NANOSECONDS)) {
                return List.of();
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return thread.shutdownNow();
    }

    @Override
    public boolean isRunning() {
        return this.threads != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** Tells one event; whoever drops it can say which it was. */
    private final class Telling implements Runnable {

        private final Object event;

        private final Object summary;

        Telling(Object event, Object summary) {
            this.event = event;
            this.summary = summary;
        }

        @Override
        public void run() {
            try {
                AsyncEventPublisher.this.events.publishEvent(this.event);
            }
            catch (RuntimeException ex) {
                logger.warn("A listener failed, which changes nothing of what it was told: {}", this.summary, ex);
            }
            finally {
                AsyncEventPublisher.this.untold.decrementAndGet();
            }
        }

    }

    /**
     * One thread for each kind of events, and one that logs.
     *
     * @param audit publishes changes
     * @param deaths publishes dead letters
     * @param log logs
     */
    private record Threads(ThreadPoolExecutor audit, ThreadPoolExecutor deaths, ThreadPoolExecutor log) {
    }

}
