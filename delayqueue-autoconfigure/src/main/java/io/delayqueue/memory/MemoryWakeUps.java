package io.delayqueue.memory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies listeners when a message is added to a queue, or its schedules are changed.
 * <p>
 * <strong>Threads.</strong> Any. Listeners are called on the thread that changed the
 * queue, which holds no lock of the store then.
 */
final class MemoryWakeUps {

    private static final Logger logger = LoggerFactory.getLogger(MemoryWakeUps.class);

    private final List<Registration> registrations = new CopyOnWriteArrayList<>();

    WakeUps.Subscription listen(Partition queue, WakeUps.Listener listener) {
        Registration registration = new Registration(queue, listener);
        this.registrations.add(registration);
        return () -> this.registrations.remove(registration);
    }

    void notifyListeners(Partition queue) {
        notifyListeners(queue, WakeUpSignal.POLL_NOW);
    }

    void notifyListeners(Partition queue, WakeUpSignal signal) {
        for (Registration registration : this.registrations) {
            if (registration.queue.equals(queue)) {
                registration.notifyListeners(signal);
            }
        }
    }

    /** Holds a registration. Two of one listener are distinct, so it is no record. */
    private static final class Registration {

        private final Partition queue;

        private final WakeUps.Listener listener;

        Registration(Partition queue, WakeUps.Listener listener) {
            this.queue = queue;
            this.listener = listener;
        }

        /**
         * Calls the listener. If it fails, the completed transition must not be reported
         * as failed.
         */
        void notifyListeners(WakeUpSignal signal) {
            try {
                this.listener.onWakeUp(signal);
            }
            catch (RuntimeException ex) {
                logger.warn("An alarm of queue '{}' failed; its worker finds messages by its safety poll", this.queue,
                        ex);
            }
        }

    }

}
