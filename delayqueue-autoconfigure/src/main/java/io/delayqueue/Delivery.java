package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Gives a handler access to the message that it handles and to its lease. Declare a
 * parameter of this type to receive it. The lease is renewed automatically while the
 * handler runs, so most handlers do not need it.
 * <p>
 * <strong>Threads.</strong> May be used from any thread until the handler has returned
 * or, if it returns a future, until that has completed. The decisions {@code retryAfter},
 * {@code deadLetter} and {@code fail} take effect at that point, and the last one wins.
 * If the handler throws, the attempt fails regardless of earlier decisions; that of a
 * batch listener fails only for the messages without a decision. <pre class="code">
 * &#64;DelayedListener("receipt")
 * void send(Receipt receipt, Delivery delivery) {
 *     if (!mail.isAvailable()) {
 *         delivery.retryAfter(Duration.ofMinutes(5));
 *         return;
 *     }
 *     mail.send(receipt);
 * }
 * </pre>
 */
public interface Delivery {

    /** Returns the queue that the message was sent to. */
    String queue();

    /** Returns the id of the message. */
    String id();

    /**
     * Returns the group of the message. No other message of the group is handled until
     * this one is done.
     */
    Optional<String> group();

    /**
     * Returns the number of this attempt, starting at 1: previous handler failures plus
     * one.
     */
    int attempt();

    /**
     * Returns how many earlier leases ran out after the start of the handler was
     * recorded, for example because the process crashed.
     */
    int lapses();

    /**
     * Returns when this attempt was due, on the store's clock. Releasing the message
     * before a handler started does not change it. After a lapse this may be the start of
     * the lapsed lease, if the due time is no longer known.
     */
    Instant dueAt();

    /**
     * Returns the time from {@link #dueAt()} to the start of the handler, on the store's
     * clock.
     */
    Duration lateness();

    /**
     * Returns whether this handler still holds the lease, as far as this process knows.
     * Once {@code false}, another handler may be handling the message, and the store
     * rejects the result of this one.
     */
    boolean isLeased();

    /**
     * Extends the lease to at least {@code leaseTime} from now, in addition to the
     * automatic renewal. Useful before a pause of the whole process.
     * @param leaseTime more than zero
     * @return {@code false} if this handler no longer holds the lease
     * @throws StoreUnavailableException if the store did not answer
     */
    boolean extend(Duration leaseTime);

    /**
     * Releases the message when the handler returns. It is due again {@code delay} later,
     * and no attempt is used up.
     * @param delay zero or more; with zero it is queued behind the messages that are due
     * at that time
     */
    void retryAfter(Duration delay);

    /**
     * Dead-letters the message when the handler returns.
     * @param reason the reason, for operators; may be {@code null}, like the message of
     * an exception
     */
    void deadLetter(@Nullable String reason);

    /**
     * Fails the attempt when the handler returns, as if the handler had thrown
     * {@code error} for this message. A batch listener fails single messages of its batch
     * by this method; all others are acknowledged when it returns.
     * @param error the reason
     */
    void fail(Throwable error);

}
