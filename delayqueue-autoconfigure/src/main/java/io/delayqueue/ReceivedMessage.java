package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

import org.springframework.core.ParameterizedTypeReference;

/**
 * Holds a message claimed by {@link DelayQueueOperations#receive} and leased to the
 * caller. Settle it with {@code acknowledge}, {@code retry}, {@code release} or
 * {@code deadLetter}. The lease is <em>not</em> renewed automatically: a message that is
 * not settled within {@link #leasedFor()} is redelivered.
 * <p>
 * The settling methods return {@code false}, and change nothing, if the caller no longer
 * holds the lease. They throw {@link StoreUnavailableException} if the store does not
 * answer; the call may then be repeated. Thread-safe. <pre class="code">
 * delayQueue.receive("receipt", Duration.ofSeconds(20)).ifPresent((message) -&gt; {
 *     mail.send(message.payload(Receipt.class));
 *     message.acknowledge();
 * });
 * </pre>
 */
public interface ReceivedMessage {

    /** Returns the queue that the message was sent to. */
    String queue();

    /** Returns the id of the message. */
    String id();

    /**
     * Returns the group of the message. No other message of the group is delivered until
     * this one is done.
     */
    Optional<String> group();

    /** Returns the number of this attempt, starting at 1: previous failures plus one. */
    int attempt();

    /**
     * Returns when this attempt was due, on the store's clock. After a lapse this may be
     * the start of the lapsed lease, if the due time is no longer known.
     */
    Instant dueAt();

    /** Returns the headers set by the sender. */
    Map<String, String> headers();

    /**
     * Returns the remaining time of the lease, as far as this process knows; zero after
     * it has ended.
     */
    Duration leasedFor();

    /**
     * Reads the payload.
     * @param <T> the payload's type
     * @param type the type to read it as
     * @return the payload
     * @throws PayloadConversionException if it cannot be read as {@code type}
     */
    <T> T payload(Class<T> type);

    /**
     * Reads the payload as a generic type, as in {@code message.payload(new
     * ParameterizedTypeReference<List<Order>>() {})}.
     * @param <T> the payload's type
     * @param type the type to read it as
     * @return the payload
     * @throws PayloadConversionException if it cannot be read as {@code type}
     */
    <T> T payload(ParameterizedTypeReference<T> type);

    /** Ends the lease and removes the message, because it was handled. */
    boolean acknowledge();

    /**
     * Ends the lease because handling failed. The message is due again after
     * {@code delay}, or is dead-lettered if this was its last attempt.
     */
    boolean retry(Duration delay, String failure);

    /**
     * Releases the message without using up an attempt.
     * @param delay time until it is due again; with zero the message keeps the due time
     * of this attempt, so it is delivered before messages that became due later, possibly
     * to this caller
     */
    boolean release(Duration delay);

    /** Dead-letters the message. */
    boolean deadLetter(String reason);

    /** Extends the lease to at least {@code leaseTime} from now. */
    boolean extend(Duration leaseTime);

}
