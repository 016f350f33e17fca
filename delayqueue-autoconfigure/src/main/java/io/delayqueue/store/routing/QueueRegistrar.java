package io.delayqueue.store.routing;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.store.QueueRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers each queue in the {@link QueueRegistry} on first use, and refreshes the
 * registration at most once a minute, so that an entry that was removed or never written
 * reappears. Failures do not reach the caller, which waits only if the calls of the store
 * block.
 * <p>
 * <strong>Threads.</strong> Any. An atomic per queue holds the next refresh time; the
 * thread that advances it registers the queue.
 */
public final class QueueRegistrar {

    /** Does not register anything. */
    public static final QueueRegistrar NONE = new QueueRegistrar(QueueRegistry.NONE, () -> 0);

    private static final Logger logger = LoggerFactory.getLogger(QueueRegistrar.class);

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    /**
     * Bounds the memory, as callers may invent queue names. Beyond it, queues are
     * registered again on their next use.
     */
    private static final int MAX_QUEUES = 10_000;

    private final QueueRegistry registry;

    private final LongSupplier nanoTime;

    private final ConcurrentMap<QueueName, AtomicLong> nextRegistrations = new ConcurrentHashMap<>();

    /**
     * Creates a registrar that has not registered any queue.
     * @param registry the registry
     * @param nanoTime the monotonic clock
     */
    public QueueRegistrar(QueueRegistry registry, LongSupplier nanoTime) {
        this.registry = registry;
        this.nanoTime = nanoTime;
    }

    /** Registers a queue that this process uses. */
    public void register(QueueName queue) {
        long now = this.nanoTime.getAsLong();
        AtomicLong known = this.nextRegistrations.get(queue);
        if (known == null) {
            if (this.nextRegistrations.size() >= MAX_QUEUES) {
                this.nextRegistrations.clear();
            }
            known = this.nextRegistrations.computeIfAbsent(queue, (name) -> new AtomicLong(now));
        }
        long next = known.get();
        if (now - next >= 0 && known.compareAndSet(next, now + PERIOD)) {
            add(queue);
        }
    }

    private void add(QueueName queue) {
        this.registry.add(queue).whenComplete((added, failure) -> {
            if (failure != null) {
                logger.debug("Cannot put queue '{}' into the list of queues; tried again in a minute", queue, failure);
            }
        });
    }

}
