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
 * Publishes events and logs lines for threads that must not block: those of the store's
 * connection, and the polling thread. Events of one kind are published in order, one at a
 * time. If a listener hangs and too many events wait, further ones are logged instead.
 * <p>
 * <strong>Threads.</strong> One for each kind of event, and one that logs, because an
 * appender may block; each ends when idle. Any thread may call; calls never block. Stops
 * after the web server, so that the events of the last requests are published too.
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

    /** Creates a publisher, which only logs events before its start. */
    public AsyncEventPublisher(ApplicationEventPublisher events) {
        this(events, MOST_UNTOLD, STOP_LIMIT);
    }

    /**
     * Creates a publisher with other limits.
     * @param mostUntold most pending events of a kind
     * @param stopLimit how long a stop waits for the listeners of a kind
     */
    AsyncEventPublisher(ApplicationEventPublisher events, int mostUntold, Duration stopLimit) {
        this.events = events;
        this.mostUntold = mostUntold;
        this.stopLimit = stopLimit;
    }

    /** Publishes a change, for the audit. */
    public void tell(AuditedOperationEvent audited) {
        Threads current = this.threads;
        execute((current != null) ? current.audit() : null, audited, audited);
    }

    /** Publishes a dead letter, which is logged already. */
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
     * Logs a line on the logging thread. If too many lines are pending, it is only
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

    /** Returns the number of events that are not published yet. */
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

    /** Waits a limited time for pending events, and logs the rest. */
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

    /** Stops a thread; returns the tasks that it has not started. */
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

    /** Publishes one event; keeps a summary to log if it is dropped. */
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
     * Holds the threads: one for each kind of event, and one that logs.
     *
     * @param audit publishes changes
     * @param deaths publishes dead letters
     * @param log logs
     */
    private record Threads(ThreadPoolExecutor audit, ThreadPoolExecutor deaths, ThreadPoolExecutor log) {
    }

}
