package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Sends messages that a listener handles later, and steers those that wait.
 * <p>
 * A message is delivered <em>at least once</em>: never before it is due, and again if its
 * handler fails, its lease runs out, or the process stops before the message is
 * acknowledged. Handlers should therefore be idempotent. Messages due in the same
 * millisecond have no promised order.
 * <p>
 * Time is the store's: delays are counted by its clock, so the clocks of applications
 * need not agree. Implementations are thread-safe. Wrong arguments are answered with
 * {@link IllegalArgumentException} before anything is stored; what else is thrown is a
 * {@link DelayQueueException} whose {@link DelayQueueException#effect()} says whether the
 * effect of the call is known.
 *
 * @see DelayedListener
 */
public interface DelayQueueOperations {

    /** Most messages that are steered by one call. */
    int MOST_IDS = 1_000;

    /**
     * Stores a message that is due now, under a generated id.
     * @param queue the queue to send to, see {@link QueueName}
     * @param payload what the handler receives; written as JSON
     * @return as for {@link #send(String, Object, Duration)}, as are the exceptions
     */
    default SendResult send(String queue, Object payload) {
        return send(queue, payload, Duration.ZERO);
    }

    /**
     * Stores a message that is due after {@code delay}, under a generated id.
     * @param queue the queue to send to, see {@link QueueName}
     * @param payload what the handler receives; written as JSON
     * @param delay time until the message is due, rounded up to the millisecond; zero for
     * now
     * @return the id and the due time, once the store has the message. Inside a
     * transaction, if {@code delayqueue.send.after-commit} is set, the outcome is
     * {@link SendOutcome#DEFERRED} and nothing is stored yet
     * @throws IllegalArgumentException if an argument is not valid or the payload is too
     * large; nothing is stored
     * @throws PayloadConversionException if the payload cannot be written; nothing is
     * stored
     * @throws StoreUnavailableException if the store did not answer; its effect says
     * whether the message may be stored
     * @throws StoreRefusedException if the store answered with an error; nothing is
     * stored
     */
    SendResult send(String queue, Object payload, Duration delay);

    /**
     * Stores a message that is due at {@code dueAt}, under a generated id.
     * @param queue the queue to send to
     * @param payload what the handler receives
     * @param dueAt when the message is due, on the store's clock; a time in the past
     * means now
     * @return as for {@link #send(String, Object, Duration)}, as are the exceptions
     */
    SendResult send(String queue, Object payload, Instant dueAt);

    /**
     * Stores a message that is due after {@code delay}, under an id of the caller's, by
     * which it can be {@linkplain #cancel cancelled} and {@linkplain #reschedule
     * rescheduled}. If the queue already holds the id, what it holds is kept: see
     * {@link OnDuplicate#KEEP}.
     * @param queue the queue to send to
     * @param id such as a business key; see {@link MessageLimits#requireId}
     * @param payload what the handler receives
     * @param delay time until the message is due, rounded up to the millisecond; zero for
     * now
     * @return as for {@link #send(String, Object, Duration)}, as are the exceptions
     */
    default SendResult send(String queue, String id, Object payload, Duration delay) {
        return send(DelayedMessage.builder(queue, payload).id(id).delay(delay).build());
    }

    /**
     * Stores a message that is due at {@code dueAt}, under an id of the caller's, as
     * {@link #send(String, String, Object, Duration)} does.
     * @param queue the queue to send to
     * @param id such as a business key; see {@link MessageLimits#requireId}
     * @param payload what the handler receives
     * @param dueAt when the message is due, on the store's clock; a time in the past
     * means now
     * @return as for {@link #send(String, Object, Duration)}, as are the exceptions
     */
    default SendResult send(String queue, String id, Object payload, Instant dueAt) {
        return send(DelayedMessage.builder(queue, payload).id(id).dueAt(dueAt).build());
    }

    /**
     * Stores a message.
     * @param message what to send
     * @return what happened; the exceptions are those of
     * {@link #send(String, Object, Duration)}
     */
    SendResult send(DelayedMessage message);

    /**
     * Stores many messages, with far fewer calls than one for each. All are checked and
     * written as JSON before the first is stored.
     * @param messages what to send, to one queue or several
     * @return what happened to each, in the order of {@code messages}
     * @throws IllegalArgumentException if one of them is not valid; nothing is stored
     * @throws PayloadConversionException if a payload cannot be written; nothing is
     * stored
     * @throws BatchSendException if the store failed; it names what is stored, what is
     * not, and what is unknown
     */
    List<SendResult> sendAll(Collection<DelayedMessage> messages);

    /**
     * Stores a message without waiting for the store.
     * @param message what to send
     * @return completes as {@link #send(DelayedMessage)} would return or throw, on a
     * thread of the store's connection, which must not be blocked. Wrong arguments and
     * payloads are thrown by the call itself. With an after-commit send it completes at
     * once, with {@link SendOutcome#DEFERRED}. On a connection factory other than
     * Lettuce's the call itself waits
     */
    CompletableFuture<SendResult> sendAsync(DelayedMessage message);

    /**
     * Takes a message that is due, or waits until one is. Waits without polling.
     * @param queue the queue to take from
     * @param timeout longest time to wait; zero to take only what is due now
     * @return the message, leased to the caller, who must settle it; empty if none became
     * due in time, or if the thread was interrupted, whose interrupt flag is then set
     * @throws StoreUnavailableException if the store could not be reached during all of
     * the timeout
     */
    Optional<ReceivedMessage> receive(String queue, Duration timeout);

    /**
     * Removes a message that is not being handled. One that is being handled goes on, but
     * is not tried again should that fail: who only wants to know whether it is too late
     * looks with {@link #find}.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @return what happened
     */
    CancelResult cancel(String queue, String id);

    /**
     * Changes the due time of a message that waits, in place. Its time to live counts
     * from the new one.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @param delay time from now until it is due; zero for now
     * @return what happened
     */
    RescheduleResult reschedule(String queue, String id, Duration delay);

    /**
     * Changes the due time of a message that waits, in place. Its time to live counts
     * from the new one.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @param dueAt when it is due; a time in the past means now
     * @return what happened
     */
    RescheduleResult reschedule(String queue, String id, Instant dueAt);

    /**
     * Cancels many messages, each as {@link #cancel} does, without waiting for one after
     * the other.
     * @param queue the queue the messages were sent to
     * @param ids their ids, at most {@value #MOST_IDS}; each counts once
     * @return what happened to each, in the order of {@code ids}
     * @throws IllegalArgumentException if an id is not valid, or there are too many;
     * nothing is cancelled
     * @throws StoreUnavailableException if the store did not answer for one of them; the
     * others may be cancelled all the same, and a repetition does no harm. A client that
     * blocks asks for one after the other, until one fails or all together last too long
     */
    Map<String, CancelResult> cancelAll(String queue, Collection<String> ids);

    /**
     * Changes the due time of many messages, each as
     * {@link #reschedule(String, String, Duration)} does, without waiting for one after
     * the other.
     * @param queue the queue the messages were sent to
     * @param ids their ids, at most {@value #MOST_IDS}; each counts once
     * @param delay time from now until they are due; zero for now
     * @return what happened to each, in the order of {@code ids}; the exceptions are
     * those of {@link #cancelAll}
     */
    Map<String, RescheduleResult> rescheduleAll(String queue, Collection<String> ids, Duration delay);

    /**
     * Looks at a message that waits or is being handled.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @return the message; empty if the queue does not hold it (any more)
     */
    Optional<StoredMessage> find(String queue, String id);

    /**
     * Counts the messages of a queue, at a cost that hardly grows with their number.
     * @param queue the queue
     * @return the counts; all zero if nobody ever sent to it
     */
    QueueStatistics statistics(String queue);

    /**
     * The dead letters of a queue. Makes no call by itself.
     * @param queue the queue
     * @return operations on its dead letters
     */
    DeadLetterOperations deadLetters(String queue);

    /**
     * Spreads a queue over another number of partitions, for all applications that use
     * it, while they run. New messages are spread by the new number; those that wait stay
     * where they are and are handled there, so nothing is lost and nothing doubled, and a
     * partition that is no longer needed drains. Comes to an end only while all masters
     * can be reached; if it fails, a repetition goes on where it ended.
     * @param queue the queue
     * @param partitions 1 to 256
     * @return the number before
     * @throws IllegalArgumentException if the number is not valid, or would be the ninth
     * different one that the queue has had
     */
    int repartition(String queue, int partitions);

    /**
     * Pauses a queue, for all applications that use it and across their restarts, until
     * somebody resumes it. Once this has returned no worker and no
     * {@link #receive(String, Duration)} takes a message of the queue. What becomes due
     * waits, and its time to live goes on; what was taken before may be handled to the
     * end. Sending, cancelling and the like go on. Needs all masters that the queue is
     * on; if it fails the queue may be paused in part, and a repetition, or the next
     * process that uses the queue, completes that.
     * <p>
     * Applications with a version of this library that cannot pause queues take messages
     * all the same, their sends of messages with ids fail, and those that start meanwhile
     * cannot use the queue: until {@link #resume(String)}, also if the pause has ended by
     * itself.
     * @param queue the queue
     * @return what was changed
     */
    PauseResult pause(String queue);

    /**
     * As {@link #pause(String)}, but the pause ends by itself, and workers look at once.
     * @param queue the queue
     * @param time how long, from now on; replaces the end of an earlier pause
     * @return what was changed
     */
    PauseResult pause(String queue, Duration time);

    /**
     * As {@link #pause(String)}, but the pause ends by itself, and workers look at once.
     * @param queue the queue
     * @param until the end, on the store's clock; replaces the end of an earlier pause. A
     * time in the past ends that, and pauses nothing
     * @return what was changed
     */
    PauseResult pause(String queue, Instant until);

    /**
     * Ends the pause of a queue; workers look at once.
     * @param queue the queue
     * @return what was found
     */
    ResumeResult resume(String queue);

}
