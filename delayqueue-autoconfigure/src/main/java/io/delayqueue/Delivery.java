package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The delivery that a handler works on; declare a parameter of this type to get it. The
 * lease is renewed by itself while the handler runs, so most handlers need none of this.
 * <p>
 * <strong>Threads.</strong> May be used from any thread until the handler has returned
 * or, if it returns a future, until that is done. The methods that decide
 * ({@code retryAfter}, {@code deadLetter}) take effect then, and the last one wins; a
 * handler that throws has failed whatever it decided before.
 */
public interface Delivery {

    /** The queue that the message was sent to. */
    String queue();

    /** The id of the message. */
    String id();

    /**
     * The group of the message: no other message of it is handled until this one is done.
     */
    Optional<String> group();

    /** The number of this attempt, from 1: handler failures so far plus one. */
    int attempt();

    /** Times before when the process that handled the message vanished. */
    int lapses();

    /**
     * When this attempt was due, on the store's clock: also if it was claimed before, and
     * given back before a handler began. After a lease that ran out it may be known only
     * when that lease was given.
     */
    Instant dueAt();

    /** Time from {@link #dueAt()} to the start of the handler, on the store's clock. */
    Duration lateness();

    /**
     * Whether the message is still this handler's, as far as this process knows. Once
     * {@code false}, somebody else may be handling it, and what this handler decides is
     * turned away.
     */
    boolean isLeased();

    /**
     * Prolongs the lease to at least {@code leaseTime} from now, on top of the renewal
     * that happens by itself. Useful ahead of a pause of the whole process.
     * @param leaseTime more than zero
     * @return {@code false} if the message is no longer this handler's
     * @throws StoreUnavailableException if the store did not answer
     */
    boolean extend(Duration leaseTime);

    /**
     * Gives the message back when the handler returns: it is due again {@code delay}
     * after that, and no attempt is burned.
     * @param delay zero or more; with zero it comes after what is due by then
     */
    void retryAfter(Duration delay);

    /**
     * Makes the message a dead letter when the handler returns.
     * @param reason why, for people to read; may be {@code null}, as the message of an
     * exception may
     */
    void deadLetter(@Nullable String reason);

}
