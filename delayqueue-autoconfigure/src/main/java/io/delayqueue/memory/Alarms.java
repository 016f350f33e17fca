package io.delayqueue.memory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.engine.Partition;
import io.delayqueue.engine.WakeUps;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who wants to be told when something is put into a queue.
 * <p>
 * <strong>Threads.</strong> Any. Alarms ring on the thread that changed the queue, which
 * holds no lock of the store then.
 */
final class Alarms implements WakeUps {

    private static final Logger logger = LoggerFactory.getLogger(Alarms.class);

    private final List<Registration> registrations = new CopyOnWriteArrayList<>();

    @Override
    public Subscription listen(Partition queue, Runnable alarm) {
        Registration registration = new Registration(queue, alarm);
        this.registrations.add(registration);
        return () -> this.registrations.remove(registration);
    }

    void ring(Partition queue) {
        for (Registration registration : this.registrations) {
            if (registration.queue.equals(queue)) {
                registration.ring();
            }
        }
    }

    /** Not a record: two registrations of one alarm are two. */
    private static final class Registration {

        private final Partition queue;

        private final Runnable alarm;

        Registration(Partition queue, Runnable alarm) {
            this.queue = queue;
            this.alarm = alarm;
        }

        /** The transition is done: an alarm that throws must not make it look failed. */
        void ring() {
            try {
                this.alarm.run();
            }
            catch (RuntimeException ex) {
                logger.warn("An alarm of queue '{}' failed; its worker finds messages by its safety poll", this.queue,
                        ex);
            }
        }

    }

}
