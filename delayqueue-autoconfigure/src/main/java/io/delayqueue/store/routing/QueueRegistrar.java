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
 * Puts the queues that this process uses into the {@link QueueRegistry}: at the first
 * use, and with a use a minute later again, in case somebody has struck them off or the
 * store was away. Whoever uses a queue is told of no failure, and waits only where the
 * calls of the store wait themselves.
 * <p>
 * <strong>Threads.</strong> Any. When a queue is noted next is one number, and who moves
 * it notes.
 */
public final class QueueRegistrar {

    /** That notes nothing. */
    public static final QueueRegistrar NONE = new QueueRegistrar(QueueRegistry.NONE, () -> 0);

    private static final Logger logger = LoggerFactory.getLogger(QueueRegistrar.class);

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    /** Names may be made up without end; then those that are used are noted anew. */
    private static final int MOST_QUEUES = 10_000;

    private final QueueRegistry directory;

    private final LongSupplier nanoTime;

    private final ConcurrentMap<QueueName, AtomicLong> nextNotes = new ConcurrentHashMap<>();

    /**
     * Makes one that has noted nothing.
     * @param directory where to note
     * @param nanoTime the monotonic clock
     */
    public QueueRegistrar(QueueRegistry directory, LongSupplier nanoTime) {
        this.directory = directory;
        this.nanoTime = nanoTime;
    }

    /** This process uses the queue. */
    public void note(QueueName queue) {
        long now = this.nanoTime.getAsLong();
        AtomicLong known = this.nextNotes.get(queue);
        if (known == null) {
            if (this.nextNotes.size() >= MOST_QUEUES) {
                this.nextNotes.clear();
            }
            known = this.nextNotes.computeIfAbsent(queue, (name) -> new AtomicLong(now));
        }
        long next = known.get();
        if (now - next >= 0 && known.compareAndSet(next, now + PERIOD)) {
            add(queue);
        }
    }

    private void add(QueueName queue) {
        this.directory.add(queue).whenComplete((added, failure) -> {
            if (failure != null) {
                logger.debug("Cannot put queue '{}' into the list of queues; tried again in a minute", queue, failure);
            }
        });
    }

}
