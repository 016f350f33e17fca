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
 * Lets threads wait for the wake-ups of a queue, in all its partitions. All that wait on
 * one queue share one subscription, which ends when the last of them leaves.
 * <p>
 * <strong>Threads.</strong> Any thread may wait; the store's threads ring. Who is there
 * is guarded by the map's lock on the queue, the strokes of a bell by the bell's own.
 */
final class WakeUpWaiters {

    private final WakeUps wakeUps;

    private final ConcurrentMap<QueueName, Bell> bells = new ConcurrentHashMap<>();

    WakeUpWaiters(WakeUps wakeUps) {
        this.wakeUps = wakeUps;
    }

    /** Begins to listen, to the partitions that {@link Ear#hear} is told. */
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

    /** One thread that listens. */
    final class Ear implements AutoCloseable {

        private final QueueName queue;

        private final Bell bell;

        private Ear(QueueName queue, Bell bell) {
            this.queue = queue;
            this.bell = bell;
        }

        /**
         * Hears these partitions too, as far as it does not already. They must be all
         * there are: they are heard as long as anybody listens to the queue.
         */
        void hear(List<Partition> partitions) {
            if (!this.bell.subscriptions.keySet().containsAll(partitions)) {
                subscribe(this.queue, partitions);
            }
        }

        /** The strokes so far. Read before a look, so that none is lost meanwhile. */
        long strokes() {
            return this.bell.strokes();
        }

        /** Waits until there are more strokes than {@code heard}, or the time is over. */
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

        /** Who takes a single message keeps nothing, and leaves keepers to themselves. */
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
