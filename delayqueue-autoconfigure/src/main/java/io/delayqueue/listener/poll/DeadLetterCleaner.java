package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.delayqueue.QueueName;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes dead letters that are past the retention, from the queues that this process
 * listens to: first after a minute, then every hour.
 * <p>
 * <strong>Threads.</strong> Any thread adds and removes; the timer of the process cleans,
 * without blocking it, one batch per call.
 */
public final class DeadLetterCleaner {

    private static final Logger logger = LoggerFactory.getLogger(DeadLetterCleaner.class);

    private static final Duration FIRST = Duration.ofMinutes(1);

    private static final Duration PERIOD = Duration.ofHours(1);

    private final PollLoopContext context;

    /** The planned rounds, each with the action that cancels it. */
    private final Map<QueueName, Runnable> planned = new HashMap<>();

    public DeadLetterCleaner(PollLoopContext context) {
        this.context = context;
    }

    /** Adds a queue, unless it was added before. */
    public synchronized void add(QueueName queue) {
        Duration retention = this.context.settings().deadLetterRetention();
        if (retention != null && !this.planned.containsKey(queue)) {
            plan(FIRST, queue, retention);
        }
    }

    /** Removes a queue to which no listener listens any more. */
    public synchronized void remove(QueueName queue) {
        Runnable round = this.planned.remove(queue);
        if (round != null) {
            round.run();
        }
    }

    /** Varies the delay by a fifth, so that processes do not clean at the same time. */
    private void plan(Duration delay, QueueName queue, Duration retention) {
        Duration jittered = Duration.ofMillis(Math.round(delay.toMillis() * (0.8 + 0.4 * this.context.random())));
        this.planned.put(queue, this.context.timer().upkeep(jittered, () -> run(queue, retention)));
    }

    private void run(QueueName queue, Duration retention) {
        synchronized (this) {
            if (!this.planned.containsKey(queue)) {
                return;
            }
            plan(PERIOD, queue, retention);
        }
        this.context.runStoreTask(() -> purge(queue, retention));
    }

    private void purge(QueueName queue, Duration retention) {
        this.context.partitions().of(queue).whenComplete((partitions, ex) -> {
            if (ex != null) {
                logger.debug("Cannot remove old dead letters of queue '{}'; tried again in an hour: {}", queue,
                        StoreFailures.unwrap(ex).toString());
            }
            else {
                partitions.all(queue).forEach((partition) -> purge(partition, retention));
            }
        });
    }

    private void purge(Partition queue, Duration retention) {
        StoreFutures.send(() -> this.context.store().purgeOlderThan(queue, retention)).whenComplete((removed, ex) -> {
            if (ex != null) {
                logger.debug("Cannot remove old dead letters of queue '{}'; tried again in an hour: {}", queue,
                        StoreFailures.unwrap(ex).toString());
            }
            else if (removed >= MessageStore.BATCH_LIMIT) {
                this.context.timer()
                    .after(Duration.ZERO, () -> this.context.runStoreTask(() -> purge(queue, retention)));
            }
        });
    }

}
