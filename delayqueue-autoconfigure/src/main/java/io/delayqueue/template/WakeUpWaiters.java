package io.delayqueue.template;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;

/**
 * Lets threads wait for wake-ups of a queue, in all its partitions. All waiters of a
 * queue share one subscription, which ends when the last of them leaves.
 * <p>
 * <strong>Threads.</strong> Any thread may wait; the store's threads signal. The waiters
 * of a queue are guarded by the map's lock on the queue, the wake-up count of a
 * {@code Bell} by its own lock.
 */
final class WakeUpWaiters {

    private final WakeUps wakeUps;

    private final ConcurrentMap<QueueName, Bell> bells = new ConcurrentHashMap<>();

    WakeUpWaiters(WakeUps wakeUps) {
        this.wakeUps = wakeUps;
    }

    /** Registers a waiter, for the partitions passed to {@link Ear#hear}. */
    Ear listen(QueueName queue) {
        Bell bell = this.bells.compute(queue, (key, present) -> {
            Bell shared = (present != null) ? present : new Bell();
            shared.ears++;
            return shared;
        });
        return new Ear(queue, bell);
    }

    private void leave(QueueName queue) {
        this.bells.computeIfPresent(queue, (key, bell) -> {
            bell.ears--;
            if (bell.ears > 0) {
                return bell;
            }
            bell.subscriptions.values().forEach(WakeUps.Subscription::close);
            return null;
        });
    }

    private void subscribe(QueueName queue, List<Partition> partitions) {
        this.bells.computeIfPresent(queue, (key, bell) -> {
            partitions.forEach((partition) -> bell.subscriptions.computeIfAbsent(partition,
                    (name) -> this.wakeUps.listen(name, bell)));
            return bell;
        });
    }

    /** Represents one waiting thread. */
    final class Ear implements AutoCloseable {

        private final QueueName queue;

        private final Bell bell;

        private Ear(QueueName queue, Bell bell) {
            this.queue = queue;
            this.bell = bell;
        }

        /**
         * Subscribes to these partitions unless already subscribed. They must be all
         * partitions of the queue: the subscription lasts until its last waiter leaves.
         */
        void hear(List<Partition> partitions) {
            if (!this.bell.subscriptions.keySet().containsAll(partitions)) {
                subscribe(this.queue, partitions);
            }
        }

        /**
         * Returns the number of wake-ups. Must be read before a poll, so that no wake-up
         * during the poll is missed.
         */
        long strokes() {
            return this.bell.strokes();
        }

        /** Waits until there are more wake-ups than {@code heard}, or the time is up. */
        void await(long heard, long nanos) throws InterruptedException {
            this.bell.await(heard, nanos);
        }

        @Override
        public void close() {
            leave(this.queue);
        }

    }

    private static final class Bell implements WakeUps.Listener {

        private final ReentrantLock lock = new ReentrantLock();

        private final Condition rung = this.lock.newCondition();

        private long strokes;

        private int ears;

        private final Map<Partition, WakeUps.Subscription> subscriptions = new ConcurrentHashMap<>();

        /**
         * Ignores signals about primary pollers, because a caller that receives a single
         * message does not become one.
         */
        @Override
        public void heard(WakeUpSignal signal) {
            if (signal.kind() != WakeUpSignal.Kind.KEPT) {
                ring();
            }
        }

        private void ring() {
            this.lock.lock();
            try {
                this.strokes++;
                this.rung.signalAll();
            }
            finally {
                this.lock.unlock();
            }
        }

        long strokes() {
            this.lock.lock();
            try {
                return this.strokes;
            }
            finally {
                this.lock.unlock();
            }
        }

        void await(long heard, long nanos) throws InterruptedException {
            this.lock.lockInterruptibly();
            try {
                long left = nanos;
                while (this.strokes == heard && left > 0) {
                    left = this.rung.awaitNanos(left);
                }
            }
            finally {
                this.lock.unlock();
            }
        }

    }

}
