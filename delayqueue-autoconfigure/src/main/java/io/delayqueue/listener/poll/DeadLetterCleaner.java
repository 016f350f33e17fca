package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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
 * <strong>Threads.</strong> The timer of the process, without blocking it; one batch per
 * call.
 */
public final class DeadLetterCleaner {

    private static final Logger logger = LoggerFactory.getLogger(DeadLetterCleaner.class);

    private static final Duration FIRST = Duration.ofMinutes(1);

    private static final Duration PERIOD = Duration.ofHours(1);

    private final PollLoopContext context;

    private final Set<QueueName> queues = ConcurrentHashMap.newKeySet();

    public DeadLetterCleaner(PollLoopContext context) {
        this.context = context;
    }

    public void add(QueueName queue) {
        Duration retention = this.context.settings().deadLetterRetention();
        if (retention != null && this.queues.add(queue)) {
            later(FIRST, queue, retention);
        }
    }

    /** Varies the delay by a fifth, so that processes do not clean at the same time. */
    private void later(Duration delay, QueueName queue, Duration retention) {
        Duration jittered = Duration.ofMillis(Math.round(delay.toMillis() * (0.8 + 0.4 * this.context.random())));
        this.context.timer().after(jittered, () -> {
            later(PERIOD, queue, retention);
            this.context.runStoreTask(() -> purge(queue, retention));
        });
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
