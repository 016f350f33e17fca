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
 * Queues that somebody takes messages from through this process without being a listener
 * of it, as over HTTP. They are remembered as long as the process lives, since whoever
 * watches it wants to know of a queue above all when nobody consumes it any more; but no
 * more of them than are allowed, as consumers may make up names.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class RemoteConsumerQueues {

    private final int most;

    private final LongSupplier nanoTime;

    /** When somebody took messages the last time, or wanted to. */
    private final Map<QueueName, Long> queues = new ConcurrentHashMap<>();

    private final List<Consumer<QueueName>> told = new CopyOnWriteArrayList<>();

    /**
     * Creates it without queues.
     * @param most how many are remembered
     * @param nanoTime the clock for spans
     */
    public RemoteConsumerQueues(int most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    /** Somebody takes messages of the queue, or wants to. */
    public void note(QueueName queue) {
        if (!this.queues.containsKey(queue) && this.queues.size() >= this.most) {
            return;
        }
        if (this.queues.put(queue, this.nanoTime.getAsLong()) == null) {
            this.told.forEach((listener) -> listener.accept(queue));
        }
    }

    /** All that are remembered. */
    public List<QueueName> all() {
        return List.copyOf(this.queues.keySet());
    }

    /** Whether somebody did so within this time. */
    public boolean isConsumed(QueueName queue, Duration within) {
        @Nullable Long last = this.queues.get(queue);
        return last != null && this.nanoTime.getAsLong() - last <= within.toNanos();
    }

    /** Tells of each queue, also of those known by now; of some perhaps twice. */
    public void onFirst(Consumer<QueueName> listener) {
        this.told.add(listener);
        this.queues.keySet().forEach(listener);
    }

}
