package io.delayqueue.listener;

import java.time.Duration;

import io.delayqueue.QueueName;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.LocalSchedules;

/**
 * Forgets a queue in which this process has put schedules once it has long had none. So
 * the queues of a process do not grow with the names that its callers use. Confined to
 * the thread of schedules; times are those of the monotonic clock, in nanoseconds.
 */
final class ScheduleUse {

    /**
     * How long a queue without schedules is kept, as a put whose outcome is unknown may
     * take effect later.
     */
    static final Duration UNUSED = Duration.ofMinutes(10);

    private final LocalSchedules schedules;

    private final QueueName queue;

    private long usedAt;

    private long additions;

    ScheduleUse(LocalSchedules schedules, QueueName queue, long now) {
        this.schedules = schedules;
        this.queue = queue;
        this.usedAt = now;
    }

    /** Records that the schedules of the queue are about to be read. */
    void reading(long now) {
        long before = this.additions;
        this.additions = this.schedules.additions(this.queue);
        if (this.additions != before) {
            this.usedAt = now;
        }
    }

    /**
     * Forgets the queue if it has had no schedules for long.
     * @return whether it has had none
     */
    boolean isOver(FireResult result, long now) {
        if (result.count() > 0) {
            this.usedAt = now;
        }
        boolean over = now - this.usedAt > UNUSED.toNanos();
        if (over) {
            this.schedules.forget(this.queue, this.additions);
        }
        return over;
    }

}
