package io.delayqueue.web;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.AuditedOperationEvent;
import io.delayqueue.DeadLetterEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Tells the application's listeners what was learnt on a thread that must not be blocked:
 * that of the store's connection, or the one that lets claims wait. Events of one kind
 * are told one after the other, in their order. What cannot be told, as a listener hangs
 * and too many events wait for it, is logged instead.
 * <p>
 * <strong>Threads.</strong> One for each kind of events, which ends when it has nothing
 * to do; any may have something told, and waits for nothing. Its life ends after that of
 * the web server, so that what the last requests did is told too.
 */
public final class Herald implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(Herald.class);

    private static final int MOST_UNTOLD = 10_000;

    private static final int STOP_SECONDS = 5;

    private static final int MAX_LINE = 4000;

    private static final int PHASE = DEFAULT_PHASE - 4096;

    private final ApplicationEventPublisher events;

    private final int mostUntold;

    private final AtomicInteger untold = new AtomicInteger();

    private volatile @Nullable Threads threads;

    /** Makes one that tells nothing before its start. */
    public Herald(ApplicationEventPublisher events) {
        this(events, MOST_UNTOLD);
    }

    /**
     * The same with another bound.
     * @param mostUntold most events of a kind that wait for their listeners
     */
    Herald(ApplicationEventPublisher events, int mostUntold) {
        this.events = events;
        this.mostUntold = mostUntold;
    }

    /** For the audit: tells of a change. */
    void tell(AuditedOperationEvent audited) {
        Threads current = this.threads;
        execute((current != null) ? current.audit() : null, audited, audited);
    }

    /** Tells of a dead letter, whose death is logged already. */
    void tell(DeadLetterEvent death) {
        Threads current = this.threads;
        execute((current != null) ? current.deaths() : null, death, "DeadLetterEvent of " + death.letterId());
    }

    private void execute(@Nullable ThreadPoolExecutor thread, Object event, Object summary) {
        try {
            if (thread != null) {
                this.untold.incrementAndGet();
                thread.execute(() -> publish(event, summary));
                return;
            }
        }
        catch (RejectedExecutionException ex) {
            this.untold.decrementAndGet();
        }
        logger.error("Listeners were not told, as they are behind or the application ends: {}",
                Json.line(String.valueOf(summary), MAX_LINE));
    }

    private void publish(Object event, Object summary) {
        try {
            this.events.publishEvent(event);
        }
        catch (RuntimeException ex) {
            logger.warn("A listener failed, which changes nothing of what it was told: {}", summary, ex);
        }
        finally {
            this.untold.decrementAndGet();
        }
    }

    /** How many events listeners are still to be told. */
    int untold() {
        return this.untold.get();
    }

    @Override
    public void start() {
        this.threads = new Threads(thread("delayqueue-web-audit"), thread("delayqueue-web-deaths"));
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

    /** Gives listeners some time for what they were not told yet. */
    @Override
    public void stop() {
        Threads last = this.threads;
        this.threads = null;
        if (last != null) {
            end(last.audit());
            end(last.deaths());
        }
    }

    private static void end(ThreadPoolExecutor thread) {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                logger.error("{} events were not told, as their listener hangs", thread.shutdownNow().size());
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return this.threads != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /**
     * One thread for each kind of events.
     *
     * @param audit tells of changes
     * @param deaths tells of dead letters
     */
    private record Threads(ThreadPoolExecutor audit, ThreadPoolExecutor deaths) {
    }

}
