package io.delayqueue.test;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

/**
 * Decides which messages listeners may claim: none between the calls of the tester, all
 * during most of them, and one, or those of all queues but one, during others.
 * <p>
 * <strong>Threads.</strong> The test opens and closes; loops ask.
 */
final class ClaimGate {

    private volatile boolean open;

    private volatile @Nullable QueueName closed;

    private volatile @Nullable Single single;

    void open() {
        this.single = null;
        this.closed = null;
        this.open = true;
    }

    /** Opens for all queues but one. */
    void openExcept(QueueName queue) {
        this.single = null;
        this.closed = queue;
        this.open = true;
    }

    void close() {
        this.single = null;
        this.open = false;
    }

    /**
     * Opens for one message only.
     * @param id its id; {@code null} for the first that a claim returns
     */
    void openFor(Partition partition, @Nullable String id) {
        this.open = false;
        this.single = new Single(partition, id);
    }

    boolean isOpen(Partition partition) {
        return this.open && !partition.queue().equals(this.closed);
    }

    /** Returns the right to one message in a partition; {@code null} if there is none. */
    @Nullable Single single(Partition partition) {
        Single single = this.single;
        return (single != null && single.partition.equals(partition)) ? single : null;
    }

    /** Represents the right to claim one message, and to claim it again. */
    static final class Single {

        private final Partition partition;

        private @Nullable String id;

        private boolean taken;

        Single(Partition partition, @Nullable String id) {
            this.partition = partition;
            this.id = id;
        }

        synchronized boolean take() {
            boolean free = !this.taken;
            this.taken = true;
            return free;
        }

        synchronized @Nullable String id() {
            return this.id;
        }

        synchronized void claimed(String id) {
            this.id = id;
        }

        /** Allows another claim, as the last one has not found the message. */
        synchronized void giveBack() {
            this.taken = false;
        }

        /** Allows another claim of the message, if it is this one. */
        synchronized void again(String id) {
            if (id.equals(this.id)) {
                this.taken = false;
            }
        }

    }

}
