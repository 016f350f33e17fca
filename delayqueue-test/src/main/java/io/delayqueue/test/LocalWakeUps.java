package io.delayqueue.test;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;

/**
 * Notifies loops and callers of {@code receive} of changes in this process, at once and
 * on the thread that made them. Replaces the subscription of the store, whose wake-ups
 * would arrive some time later.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class LocalWakeUps {

    private final List<Registration> loops = new CopyOnWriteArrayList<>();

    private final List<Registration> callers = new CopyOnWriteArrayList<>();

    /** Returns the wake-ups of the loops of listeners. */
    WakeUps forLoops() {
        return listeners(this.loops);
    }

    /** Returns the wake-ups of other callers, which wait in real time. */
    WakeUps forCallers() {
        return listeners(this.callers);
    }

    private static WakeUps listeners(List<Registration> registrations) {
        return (partition, listener) -> {
            Registration registration = new Registration(partition, listener);
            registrations.add(registration);
            return () -> registrations.remove(registration);
        };
    }

    void changed(Partition partition) {
        for (List<Registration> registrations : List.of(this.loops, this.callers)) {
            for (Registration registration : registrations) {
                if (registration.partition.equals(partition)) {
                    registration.poll();
                }
            }
        }
    }

    /** Notifies the loops of a change of schedules. */
    void schedulesChanged(QueueName queue) {
        Partition first = Partition.first(queue);
        for (Registration registration : this.loops) {
            if (registration.partition.equals(first)) {
                registration.listener.onWakeUp(WakeUpSignal.SCHEDULES_CHANGED);
            }
        }
    }

    /** Makes all loops poll, as they may know nothing of changes of another process. */
    void pollLoops() {
        this.loops.forEach(Registration::poll);
    }

    /** Makes the other callers poll, as time has moved. */
    void pollCallers() {
        this.callers.forEach(Registration::poll);
    }

    /** Two registrations of one listener are distinct, so it is no record. */
    private static final class Registration {

        private final Partition partition;

        private final WakeUps.Listener listener;

        Registration(Partition partition, WakeUps.Listener listener) {
            this.partition = partition;
            this.listener = listener;
        }

        void poll() {
            this.listener.onWakeUp(WakeUpSignal.POLL_NOW);
        }

    }

}
