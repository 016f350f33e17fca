package io.delayqueue.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Counts the messages of a queue that have expired, so that they are logged in one line a
 * minute: after a long outage there may be very many.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class ExpiredMessagesLog {

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    private final AtomicLong count = new AtomicLong();

    /** The id of one that was not reported yet, if it is known. */
    private final AtomicReference<@Nullable String> example = new AtomicReference<>();

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

    /** Keeps the id of one of them, for the next line. */
    public void note(String id) {
        this.example.compareAndSet(null, id);
    }

    /** Keeps the id of the first of them that a claim has made dead letters. */
    public void note(List<DeadLetterEvent> deaths) {
        deaths.stream().filter(ExpiredMessagesLog::isExpired).findFirst().ifPresent((death) -> note(death.id()));
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

    /** The line that reports those that were taken. */
    public String text(long messages, QueueName queue, ExpiryPolicy policy) {
        String id = this.example.getAndSet(null);
        return "Expired and %s: %s of queue '%s'%s; further ones are summed up once a minute".formatted(
                (policy == ExpiryPolicy.DEAD_LETTER) ? "made dead letters" : "dropped",
                Texts.count(messages, "message"), queue,
                (id == null) ? "" : ((messages == 1) ? " ('%s')" : " ('%s' is one of them)").formatted(id));
    }

    /** Takes all that were not reported yet, as nobody will ask again. */
    public long takeAll() {
        return this.count.getAndSet(0);
    }

}
