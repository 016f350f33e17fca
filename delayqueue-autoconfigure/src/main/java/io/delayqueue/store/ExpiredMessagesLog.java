package io.delayqueue.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Counts the expired messages of a queue and limits their log to one line per minute, as
 * there may be very many after a long outage.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class ExpiredMessagesLog {

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    private final AtomicLong count = new AtomicLong();

    /** The id of one that has not been reported, if known. */
    private final AtomicReference<@Nullable String> example = new AtomicReference<>();

    /** Guarded by this object. */
    private boolean reported;

    /** On the monotonic clock; guarded by this object. */
    private long reportedAt;

    /** Returns whether a claim added this dead letter because its message had expired. */
    public static boolean isExpired(DeadLetterEvent deadLetter) {
        return deadLetter.reason().equals("expired");
    }

    public void add(long messages) {
        this.count.addAndGet(messages);
    }

    /** Records the id of one of them as the example for the next line. */
    public void note(String id) {
        this.example.compareAndSet(null, id);
    }

    /**
     * Records the id of the first expired message among the dead letters that a claim
     * added.
     */
    public void note(List<DeadLetterEvent> deadLetters) {
        deadLetters.stream()
            .filter(ExpiredMessagesLog::isExpired)
            .findFirst()
            .ifPresent((deadLetter) -> note(deadLetter.id()));
    }

    /**
     * Returns the number of messages to report, and resets it, at most once a minute.
     * @param now the monotonic clock
     * @return the number; 0 if there are none, or if the last report was less than a
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

    /** Returns the log line for the messages to report. */
    public String text(long messages, QueueName queue, ExpiryPolicy policy) {
        String id = this.example.getAndSet(null);
        return "Expired and %s: %s of queue '%s'%s; further ones are summed up once a minute".formatted(
                (policy == ExpiryPolicy.DEAD_LETTER) ? "made dead letters" : "dropped",
                Texts.count(messages, "message"), queue,
                (id == null) ? "" : ((messages == 1) ? " ('%s')" : " ('%s' is one of them)").formatted(id));
    }

    /**
     * Returns the number of all messages that have not been reported, for the last
     * report.
     */
    public long takeAll() {
        return this.count.getAndSet(0);
    }

}
