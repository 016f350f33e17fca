package io.delayqueue.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the queues that are consumed through this process other than by its listeners,
 * such as over HTTP. Queues are tracked until the process ends, because monitoring
 * matters most for a queue that is no longer consumed. Their number is limited, because
 * consumers may invent names.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class RemoteConsumerQueues {

    private final int most;

    private final LongSupplier nanoTime;

    /** Time of the last claim, successful or not, per queue. */
    private final Map<QueueName, Long> queues = new ConcurrentHashMap<>();

    private final List<Consumer<QueueName>> listeners = new CopyOnWriteArrayList<>();

    /**
     * Creates an instance without queues.
     * @param most maximum number of tracked queues
     * @param nanoTime the monotonic clock
     */
    public RemoteConsumerQueues(int most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    /** Records an attempt to claim messages of the queue. */
    public void record(QueueName queue) {
        if (!this.queues.containsKey(queue) && this.queues.size() >= this.most) {
            return;
        }
        if (this.queues.put(queue, this.nanoTime.getAsLong()) == null) {
            this.listeners.forEach((listener) -> listener.accept(queue));
        }
    }

    /** Returns all tracked queues. */
    public List<QueueName> all() {
        return List.copyOf(this.queues.keySet());
    }

    /** Returns whether there was an attempt within this time. */
    public boolean isConsumed(QueueName queue, Duration within) {
        @Nullable Long last = this.queues.get(queue);
        return last != null && this.nanoTime.getAsLong() - last <= within.toNanos();
    }

    /**
     * Notifies a listener of each queue, including those already tracked; of some
     * possibly twice.
     */
    public void onFirst(Consumer<QueueName> listener) {
        this.listeners.add(listener);
        this.queues.keySet().forEach(listener);
    }

}
