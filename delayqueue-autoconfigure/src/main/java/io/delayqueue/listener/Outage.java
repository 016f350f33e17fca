package io.delayqueue.listener;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a store that is away from filling the log: one WARN when it goes, at most one a
 * minute while it stays away, one INFO when the last queue is served again.
 * <p>
 * <strong>Threads.</strong> One for the whole process, called by all loops and by handler
 * threads.
 */
final class Outage {

    private static final Logger logger = LoggerFactory.getLogger(Outage.class);

    private static final long REPEAT = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanoTime;

    private final Set<QueueName> failing = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean down = new AtomicBoolean();

    private final AtomicLong lastWarning;

    Outage(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.lastWarning = new AtomicLong(nanoTime.getAsLong() - REPEAT);
    }

    /**
     * Notes that the store failed.
     * @param operation what was tried, such as "claim from"
     */
    void failed(String operation, QueueName queue, Throwable cause) {
        this.failing.add(queue);
        boolean first = this.down.compareAndSet(false, true);
        long now = this.nanoTime.getAsLong();
        long last = this.lastWarning.get();
        if (first || (now - last >= REPEAT && this.lastWarning.compareAndSet(last, now))) {
            this.lastWarning.set(now);
            logger.warn("Cannot {} queue '{}'; trying again until the store answers", operation, queue, cause);
        }
        else {
            logger.debug("Cannot {} queue '{}' still: {}", operation, queue, cause.toString());
        }
    }

    /** Notes that the store served the queue. */
    void recovered(QueueName queue) {
        if (!this.failing.isEmpty() && forget(queue)) {
            logger.info("The store answers again; queues are served as before");
        }
    }

    /**
     * Nobody asks for the queue any more.
     * @return whether that ended the outage
     */
    boolean forget(QueueName queue) {
        return this.failing.remove(queue) && this.failing.isEmpty() && this.down.compareAndSet(true, false);
    }

}
