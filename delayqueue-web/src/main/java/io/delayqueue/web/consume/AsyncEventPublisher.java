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
import io.delayqueue.store.DaemonThreads;
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

    private static final int MAX_PENDING = 10_000;

    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private static final int MAX_LINE = 4000;

    private static final int PHASE = DEFAULT_PHASE - 4096;

    private final ApplicationEventPublisher events;

    private final int maxPending;

    private final Duration stopLimit;

    private final AtomicInteger pending = new AtomicInteger();

    private final AtomicInteger droppedLines = new AtomicInteger();

    private volatile @Nullable Threads threads;

    /** Creates a publisher, which only logs events before its start. */
    public AsyncEventPublisher(ApplicationEventPublisher events) {
        this(events, MAX_PENDING, STOP_LIMIT);
    }

    /**
     * Creates a publisher with other limits.
     * @param maxPending most pending events of a kind
     * @param stopLimit how long a stop waits for the listeners of a kind
     */
    AsyncEventPublisher(ApplicationEventPublisher events, int maxPending, Duration stopLimit) {
        this.events = events;
        this.maxPending = maxPending;
        this.stopLimit = stopLimit;
    }

    /** Publishes a change, for the audit. */
    public void publish(AuditedOperationEvent audited) {
        Threads current = this.threads;
        execute((current != null) ? current.audit() : null, audited, audited);
    }

    /** Publishes a dead letter, which is logged already. */
    public void publish(DeadLetterEvent event) {
        Threads current = this.threads;
        execute((current != null) ? current.deadLetters() : null, event, "DeadLetterEvent of " + event.deadLetterId());
    }

    private void execute(@Nullable ThreadPoolExecutor thread, Object event, Object summary) {
        try {
            if (thread != null) {
                this.pending.incrementAndGet();
                thread.execute(new Publication(event, summary));
                return;
            }
        }
        catch (RejectedExecutionException ex) {
            this.pending.decrementAndGet();
        }
        log(() -> logUnpublished(summary));
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
                int lost = this.droppedLines.getAndSet(0);
                if (lost > 0) {
                    logger.error("{} lines were not logged here because too many were pending", lost);
                }
            });
        }
        catch (RejectedExecutionException ex) {
            this.droppedLines.incrementAndGet();
        }
    }

    private static void logUnpublished(Object summary) {
        logger.error("Event not published, because the listener queue is full or the application is shutting down: {}",
                Json.line(String.valueOf(summary), MAX_LINE));
    }

    /** Returns the number of events that are not published yet. */
    int pending() {
        return this.pending.get();
    }

    @Override
    public void start() {
        this.threads = new Threads(thread("delayqueue-web-audit"), thread("delayqueue-web-dead-letters"),
                thread("delayqueue-web-log"));
    }

    private ThreadPoolExecutor thread(String name) {
        ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(this.maxPending), DaemonThreads.named(name));
        thread.allowCoreThreadTimeOut(true);
        return thread;
    }

    /** Waits a limited time for pending events, and logs the rest. */
    @Override
    public void stop() {
        Threads last = this.threads;
        this.threads = null;
        if (last != null) {
            for (ThreadPoolExecutor thread : List.of(last.audit(), last.deadLetters())) {
                for (Runnable task : end(thread)) {
                    this.pending.decrementAndGet();
                    logUnpublished(((Publication) task).summary);
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
    private final class Publication implements Runnable {

        private final Object event;

        private final Object summary;

        Publication(Object event, Object summary) {
            this.event = event;
            this.summary = summary;
        }

        @Override
        public void run() {
            try {
                AsyncEventPublisher.this.events.publishEvent(this.event);
            }
            catch (RuntimeException ex) {
                logger.warn("An event listener failed, which does not affect the published change: {}", this.summary,
                        ex);
            }
            finally {
                AsyncEventPublisher.this.pending.decrementAndGet();
            }
        }

    }

    /**
     * Holds the threads: one for each kind of event, and one that logs.
     *
     * @param audit publishes changes
     * @param deadLetters publishes dead letters
     * @param log logs
     */
    private record Threads(ThreadPoolExecutor audit, ThreadPoolExecutor deadLetters, ThreadPoolExecutor log) {
    }

}
