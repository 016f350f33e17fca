package io.delayqueue.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;

/**
 * Counts the messages of a queue that have expired, so that they are logged in one line a
 * minute: after a long outage there may be very many.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class ExpiredSummary {

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    private final AtomicLong count = new AtomicLong();

    /** Guarded by this object. */
    private boolean reported;

    /** By the monotonic clock; guarded by this object. */
    private long reportedAt;

    /** Whether a claim made this dead letter as its message had expired. */
    public static boolean isExpired(DeadLetterEvent death) {
        return death.reason().equals("expired");
    }

    public void add(long messages) {
        this.count.addAndGet(messages);
    }

    /**
     * Takes those that were not reported yet, at most once a minute.
     * @param now the monotonic clock
     * @return how many to report; 0 if there are none, or the last report was less than a
     * minute ago
     */
    public long take(long now) {
        if (this.count.get() == 0) {
            return 0;
        }
        synchronized (this) {
            if (this.reported && now - this.reportedAt < PERIOD) {
                return 0;
            }
            this.reported = true;
            this.reportedAt = now;
        }
        return takeAll();
    }

    /** The line that reports them. */
    public static String text(long messages, QueueName queue, ExpiredPolicy policy) {
        return "Expired and %s: %s of queue '%s'; further ones are summed up once a minute".formatted(
                (policy == ExpiredPolicy.DEAD_LETTER) ? "made dead letters" : "dropped",
                Texts.count(messages, "message"), queue);
    }

    /** Takes all that were not reported yet, as nobody will ask again. */
    public long takeAll() {
        return this.count.getAndSet(0);
    }

}
