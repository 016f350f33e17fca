package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.delayqueue.store.Partition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs an outage of the store with a WARN at its start and at most once a minute, and an
 * INFO at its end, which is when each partition is served again.
 * <p>
 * <strong>Threads.</strong> One instance for the process, called by all loops and by
 * handler threads.
 */
public final class StoreOutageLog {

    private static final Logger logger = LoggerFactory.getLogger(StoreOutageLog.class);

    static final String CLAIM = "claim from";

    static final String ACKNOWLEDGE = "acknowledge messages of";

    static final String RENEW = "renew leases of";

    private static final long REPEAT = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanoTime;

    private final Executor log;

    private final Set<Failing> failing = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean down = new AtomicBoolean();

    private final AtomicLong lastWarning;

    /**
     * Creates a log without an outage.
     * @param log runs the task that writes a log line
     */
    public StoreOutageLog(LongSupplier nanoTime, Executor log) {
        this.nanoTime = nanoTime;
        this.log = log;
        this.lastWarning = new AtomicLong(nanoTime.getAsLong() - REPEAT);
    }

    /**
     * Records a failure of the store.
     * @param operation the failed operation, such as {@link #CLAIM}
     */
    void failed(String operation, Partition partition, Throwable cause) {
        this.failing.add(new Failing(operation, partition));
        boolean first = this.down.compareAndSet(false, true);
        long now = this.nanoTime.getAsLong();
        long last = this.lastWarning.get();
        if (first || (now - last >= REPEAT && this.lastWarning.compareAndSet(last, now))) {
            this.lastWarning.set(now);
            this.log.execute(() -> logger.warn("Cannot {} queue '{}'; retrying until the store answers", operation,
                    partition, cause));
        }
        else {
            logger.debug("Cannot {} queue '{}' still: {}", operation, partition, cause.toString());
        }
    }

    /** Records that the operation succeeded. */
    void recovered(String operation, Partition partition) {
        if (!this.failing.isEmpty() && this.failing.remove(new Failing(operation, partition)) && isOver()) {
            this.log.execute(() -> logger.info("The store answers again; queues are served as before"));
        }
    }

    /** Forgets a partition that is no longer polled. */
    void forget(Partition partition) {
        if (this.failing.removeIf((entry) -> entry.partition().equals(partition))) {
            isOver();
        }
    }

    private boolean isOver() {
        return this.failing.isEmpty() && this.down.compareAndSet(true, false);
    }

    /**
     * Identifies a failing operation. One operation may be forbidden while others
     * succeed; that must not start a new outage every time.
     */
    private record Failing(String operation, Partition partition) {
    }

}
