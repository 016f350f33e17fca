package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Sends messages that a listener handles later, receives messages, and cancels,
 * reschedules, pauses or inspects those that wait.
 * <p>
 * A message is delivered <em>at least once</em>: never before it is due, and again if its
 * handler fails, its lease runs out, or the process stops before the message is
 * acknowledged. Handlers should therefore be idempotent. Messages due in the same
 * millisecond have no promised order.
 * <p>
 * All times are those of the store's clock, so the clocks of the applications need not
 * agree. Implementations are thread-safe. Invalid arguments cause an
 * {@link IllegalArgumentException} before anything is stored. All other failures are
 * {@link DelayQueueException}s, whose {@link DelayQueueException#effect()} says whether
 * the call took effect. <pre class="code">
 * delayQueue.send("order-timeout", new OrderTimeout(42), Duration.ofMinutes(30));
 * delayQueue.send("order-timeout", "order-42", new OrderTimeout(42), Duration.ofMinutes(30));
 * delayQueue.cancel("order-timeout", "order-42");
 * </pre>
 *
 * @see DelayedListener
 */
public interface DelayQueueOperations {

    /** Maximum number of messages that one call cancels or reschedules. */
    int MAX_IDS = 1_000;

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
     * @return the id and the due time, once the message is stored. Inside a transaction
     * with {@code delayqueue.send.after-commit}, the outcome is
     * {@link SendOutcome#DEFERRED} and nothing is stored yet
     * @throws IllegalArgumentException if an argument is not valid or the payload is too
     * large; nothing is stored
     * @throws PayloadConversionException if the payload cannot be written; nothing is
     * stored
     * @throws StoreUnavailableException if the store did not answer; its effect says
     * whether the message may be stored, and its {@code messageId} under which id
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
     * Stores a message that is due after {@code delay}, under an id chosen by the caller,
     * by which it can be {@linkplain #cancel cancelled} and {@linkplain #reschedule
     * rescheduled}. If the queue already holds a message with that id, that message is
     * kept: see {@link OnDuplicate#KEEP}.
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
     * Stores a message that is due at {@code dueAt}, under an id chosen by the caller,
     * like {@link #send(String, String, Object, Duration)}.
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
     * @return the result; the exceptions are those of
     * {@link #send(String, Object, Duration)}
     */
    SendResult send(DelayedMessage message);

    /**
     * Stores many messages in batches. All are validated and written as JSON before the
     * first one is stored.
     * @param messages the messages, for one queue or several
     * @return the result of each, in the order of {@code messages}
     * @throws IllegalArgumentException if one of them is not valid; nothing is stored
     * @throws PayloadConversionException if a payload cannot be written; nothing is
     * stored
     * @throws BatchSendException if the store failed; it lists the messages that are
     * stored, not stored, and possibly stored
     */
    List<SendResult> sendAll(Collection<DelayedMessage> messages);

    /**
     * Stores a message without waiting for the store.
     * @param message what to send
     * @return a future that completes with the result or the exception of
     * {@link #send(DelayedMessage)}, on a thread of the store's connection, which must
     * not be blocked. Invalid arguments and payloads cause an exception from the call
     * itself, and so does, within a transaction, a message that the journal of its queue
     * cannot record: the transaction has to be rolled back. A send that is deferred until
     * after the commit completes immediately with {@link SendOutcome#DEFERRED}. With a
     * connection factory other than Lettuce's, the call itself waits
     */
    CompletableFuture<SendResult> sendAsync(DelayedMessage message);

    /**
     * Claims a message that is due, or waits for one without polling continuously.
     * @param queue the queue to receive from
     * @param timeout longest time to wait; zero to receive only a message that is due now
     * @return the message, leased to the caller, which must settle it; empty if none
     * became due in time, or if the thread was interrupted, in which case its interrupt
     * flag is set
     * @throws StoreUnavailableException if the store could not be reached during all of
     * the timeout
     */
    Optional<ReceivedMessage> receive(String queue, Duration timeout);

    /**
     * Removes a message that is not being handled. If it is being handled, the handler
     * continues, but the message is not retried on failure. To check without this effect
     * whether it is too late, use {@link #find}.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @return the result
     */
    CancelResult cancel(String queue, String id);

    /**
     * Changes the due time of a waiting message in place. Its time to live then counts
     * from the new due time.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @param delay time from now until it is due; zero for now
     * @return the result
     */
    RescheduleResult reschedule(String queue, String id, Duration delay);

    /**
     * Changes the due time of a waiting message in place. Its time to live then counts
     * from the new due time.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @param dueAt when it is due; a time in the past means now
     * @return the result
     */
    RescheduleResult reschedule(String queue, String id, Instant dueAt);

    /**
     * Cancels many messages, each like {@link #cancel}, with concurrent calls.
     * @param queue the queue the messages were sent to
     * @param ids their ids, at most {@value #MAX_IDS}; each counts once
     * @return the result of each, in the order of {@code ids}
     * @throws IllegalArgumentException if an id is not valid, or there are too many;
     * nothing is cancelled
     * @throws StoreUnavailableException if the store did not answer for one of them; the
     * others may have been cancelled, and the call can be repeated safely. With a
     * blocking client the calls run one after another, until one fails or the total time
     * limit is reached
     */
    Map<String, CancelResult> cancelAll(String queue, Collection<String> ids);

    /**
     * Changes the due time of many messages, each like
     * {@link #reschedule(String, String, Duration)}, with concurrent calls.
     * @param queue the queue the messages were sent to
     * @param ids their ids, at most {@value #MAX_IDS}; each counts once
     * @param delay time from now until they are due; zero for now
     * @return the result of each, in the order of {@code ids}; the exceptions are those
     * of {@link #cancelAll}
     */
    Map<String, RescheduleResult> rescheduleAll(String queue, Collection<String> ids, Duration delay);

    /**
     * Returns a message that waits or is being handled.
     * @param queue the queue the message was sent to
     * @param id the id of the message
     * @return the message; empty if the queue does not hold it
     */
    Optional<StoredMessage> find(String queue, String id);

    /**
     * Counts the messages of a queue, at a cost that grows little with their number.
     * @param queue the queue
     * @return the counts; all zero if no message was ever sent to the queue
     */
    QueueStatistics statistics(String queue);

    /**
     * Returns the operations on the dead letters of a queue. Does not call the store.
     * @param queue the queue
     * @return operations on its dead letters
     */
    DeadLetterOperations deadLetters(String queue);

    /**
     * Returns the operations on the schedules of a queue, which send a message at each of
     * their times. Does not call the store.
     * @param queue the queue
     * @return operations on its schedules
     */
    ScheduleOperations schedules(String queue);

    /**
     * Changes the number of partitions of a queue, for all applications that use it,
     * while they run. New messages are distributed over the new partitions; waiting
     * messages stay in their partition and are handled there, so none is lost or
     * duplicated, and a removed partition drains. Completes only while all masters are
     * reachable; after a failure, repeat the call to resume it.
     * @param queue the queue
     * @param partitions 1 to 256
     * @return the previous number of partitions
     * @throws IllegalArgumentException if the number is not valid, or if the queue has
     * already had eight other numbers
     */
    int repartition(String queue, int partitions);

    /**
     * Pauses a queue, for all applications that use it and across their restarts, until
     * it is resumed. After the call has returned, no listener and no
     * {@link #receive(String, Duration)} claims a message of the queue. Messages that
     * become due wait while their time to live keeps counting; messages claimed before
     * may be handled to completion. Sending, cancelling and all other operations remain
     * possible. Requires all masters that hold the queue. After a failure the queue may
     * be paused in some partitions only; repeating the call, or the next process that
     * uses the queue, completes the pause.
     * <p>
     * Applications with a version of this library without support for pauses still claim
     * messages, fail to send messages with ids and, if they start during the pause,
     * cannot use the queue. This lasts until {@link #resume(String)} is called, even if
     * the pause has ended by itself.
     * @param queue the queue
     * @return the pause, and whether the queue was paused before
     */
    PauseResult pause(String queue);

    /**
     * Pauses a queue like {@link #pause(String)} for a limited time. Listeners poll
     * immediately when the pause ends.
     * @param queue the queue
     * @param time duration from now; replaces the end of an earlier pause
     * @return the pause, and whether the queue was paused before
     */
    PauseResult pause(String queue, Duration time);

    /**
     * Pauses a queue like {@link #pause(String)} for a limited time. Listeners poll
     * immediately when the pause ends.
     * @param queue the queue
     * @param until the end, on the store's clock; replaces the end of an earlier pause. A
     * time in the past ends an earlier pause and starts none
     * @return the pause, and whether the queue was paused before
     */
    PauseResult pause(String queue, Instant until);

    /**
     * Ends the pause of a queue. Listeners poll immediately.
     * @param queue the queue
     * @return whether the queue was paused
     */
    ResumeResult resume(String queue);

}
