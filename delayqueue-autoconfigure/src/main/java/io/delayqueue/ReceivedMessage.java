package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

import org.springframework.core.ParameterizedTypeReference;

/**
 * A message taken by {@link DelayQueueOperations#receive}, leased to the caller, who
 * settles it by one of {@code acknowledge}, {@code retry}, {@code release} and
 * {@code deadLetter}. Its lease is <em>not</em> renewed by itself: a message not settled
 * before {@link #leasedFor()} is over is delivered again.
 * <p>
 * The methods that settle return {@code false}, and change nothing, if the message is no
 * longer the caller's. All of them throw {@link StoreUnavailableException} if the store
 * does not answer; the call may then be repeated. Thread-safe.
 */
public interface ReceivedMessage {

    /** The queue that the message was sent to. */
    String queue();

    /** The id of the message. */
    String id();

    /**
     * The group of the message: no other message of it is delivered until this one is
     * done.
     */
    Optional<String> group();

    /** The number of this attempt, from 1: failures so far plus one. */
    int attempt();

    /**
     * When this attempt was due, on the store's clock. After a lease that ran out it may
     * be known only when that lease was given.
     */
    Instant dueAt();

    /** Headers given by the sender. */
    Map<String, String> headers();

    /** Time that is left of the lease, as this process knows; zero once it is over. */
    Duration leasedFor();

    /**
     * Reads the payload.
     * @param <T> the payload's type
     * @param type what to read it as
     * @return the payload
     * @throws PayloadConversionException if it cannot be read as {@code type}
     */
    <T> T payload(Class<T> type);

    /**
     * Reads the payload as a generic type, as in {@code message.payload(new
     * ParameterizedTypeReference<List<Order>>() {})}.
     * @param <T> the payload's type
     * @param type what to read it as
     * @return the payload
     * @throws PayloadConversionException if it cannot be read as {@code type}
     */
    <T> T payload(ParameterizedTypeReference<T> type);

    /** Ends the lease because the message is handled; it is gone. */
    boolean acknowledge();

    /**
     * Ends the lease because handling failed. The message is due again after
     * {@code delay}; if this was its last attempt it becomes a dead letter instead.
     */
    boolean retry(Duration delay, String failure);

    /**
     * Gives the message back without burning an attempt.
     * @param delay due again after it; with zero the message is due when this attempt
     * was, so that it comes before what became due later, to this caller too
     */
    boolean release(Duration delay);

    /** Makes the message a dead letter. */
    boolean deadLetter(String reason);

    /** Prolongs the lease to at least {@code leaseTime} from now. */
    boolean extend(Duration leaseTime);

}
