package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CancelResult;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;

/**
 * Stores messages. Each method is one transition of a message's state machine, atomic and
 * visible to all processes when its future completes. Senders pass the
 * {@link PartitionTarget} of an id; all other methods take the {@link Partition} that is
 * known to hold the message.
 *
 * <pre>
 *              claim             acknowledge
 *  SCHEDULED ---------&gt; LEASED --------------&gt; (gone, or its successor SCHEDULED)
 *   ^  ^  ^              | | |
 *   |  |  | retry,release| | +-- deadLetter --&gt; DEAD --redrive--&gt; SCHEDULED
 *   |  |  +--------------+ |
 *   |  +-- lease runs out--+      cancel, expiry: SCHEDULED --&gt; (gone), or DEAD if expired
 *   +-- reschedule
 * </pre>
 *
 * A lapse needs no method: the next {@code claim} finds it, and every method for senders
 * treats such a message as {@code SCHEDULED}.
 * <p>
 * The methods that take a {@link Lease} are fenced: once the lease has ended they change
 * nothing and return {@code false}. They are idempotent: a call that the connection
 * repeats, while the message did not change in between, has the effect of one call and
 * returns the same answer.
 * <p>
 * <strong>Threads.</strong> All methods may be called from any thread and do not wait,
 * unless {@link #isBlocking()}. A future always completes within the store's time limit;
 * if exceptionally, with a {@link io.delayqueue.DelayQueueException}, and on a thread
 * that must not be blocked.
 */
public interface MessageStore {

    /** Maximum number of messages or leases of one call. */
    int BATCH_LIMIT = 100;

    /** Maximum length of a failure that is stored with a message, in characters. */
    int MAX_FAILURE = 500;

    /**
     * Number of content bytes after which a call stops reading, so that large messages do
     * not block the store for other calls.
     */
    int CONTENT_LIMIT = 1 << 20;

    /** Returns whether methods block the caller's thread until the work is done. */
    default boolean isBlocking() {
        return false;
    }

    /**
     * Adds messages, or applies them to the messages that the queue holds with their ids.
     * Applies all of them or, if the future fails, none as far as is known. A call whose
     * messages are all {@linkplain NewMessage#unique() unique} is never rejected for the
     * version of its target. A message whose {@linkplain NewMessage#revision() revision}
     * has ended is not stored, and its answer is KEPT; if the queue holds that revision
     * already, the answer is RECORDED.
     * @param messages at most {@link #BATCH_LIMIT}, with distinct ids
     * @return the answers in the order of {@code messages}
     */
    CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages);

    /**
     * Works like {@link #schedule}, but skips messages whose ids the partition neither
     * holds nor keeps out, unless it holds other messages of their groups. The answers of
     * skipped messages are empty.
     */
    CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget target, List<NewMessage> messages);

    /**
     * Leases due messages, by lane from the highest priority, then by due time, after
     * making messages with lapsed leases due again. Removes at most {@link #BATCH_LIMIT}
     * expired messages. Leases fewer large messages than requested, but at least one. If
     * due messages remain, the next time in the answer is not later than now.
     */
    CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request);

    /**
     * Resigns as primary poller of a partition, so that the standby nodes poll without
     * delay.
     * @param node the primary poller
     * @return {@code false} if the primary poller is another node, or there is none
     */
    CompletableFuture<Boolean> resign(Partition partition, String node);

    /**
     * Ends leases and removes their messages, because these were handled.
     * @param leases at most {@link #BATCH_LIMIT}, each once
     */
    CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases);

    /**
     * Ends a lease and removes its message, because that has expired. Begins no duplicate
     * window, unlike {@link #acknowledge}.
     */
    CompletableFuture<Boolean> expire(Lease lease);

    /** Extends leases to at least {@code leaseTime} from now; never shortens one. */
    CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime);

    /**
     * Records that the handler of a redelivered message is about to start, so that it
     * counts as a lapse if the lease runs out again.
     */
    CompletableFuture<Boolean> start(Lease lease);

    /**
     * Ends a lease because the handler failed. The message is due again after
     * {@code delay}, unless it was cancelled in the meantime or has a successor.
     * @param failure what went wrong, stored with the message in one line; 1 to
     * {@value #MAX_FAILURE} characters
     */
    CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure);

    /**
     * Releases messages without using up an attempt; they are due again after
     * {@code delay}.
     */
    CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay);

    /**
     * Releases messages whose attempts were not started. Each keeps the due time of its
     * attempt, now at the latest, so that it precedes messages that became due later.
     */
    CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases);

    /**
     * Ends a lease by dead-lettering the message. The id of the dead letter is
     * {@link Lease#deadLetterId()}.
     */
    CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request);

    /** Removes a waiting message, or prevents the retry of a leased one. */
    CompletableFuture<CancelResult> cancel(PartitionTarget target, String id);

    /** Changes the due time of a waiting message. */
    CompletableFuture<RescheduleResult> reschedule(PartitionTarget target, String id, DueTime due);

    /**
     * Makes the message of a dead letter due now, with all its attempts, in a queue that
     * was never partitioned. In other queues the message may belong to another partition
     * now, and is sent there instead.
     */
    CompletableFuture<RedriveResult> redrive(PartitionTarget target, String deadLetterId);

    /**
     * Returns changes of messages that a journal is to record, at most
     * {@link LedgerRequest#LIMIT}, and forgets those that it has recorded. Changes
     * nothing if the partition belongs to another journal.
     */
    CompletableFuture<LedgerChanges> changes(Partition partition, LedgerRequest request);

    /**
     * Returns a page of the messages of a journal that a partition holds.
     * @param cursor {@link RevisionPage#START}, or that of the page before
     */
    CompletableFuture<RevisionPage> heldRevisions(Partition partition, String cursor);

    /**
     * Returns what a partition has of messages of a journal, in their order.
     * @param messages ended messages have the same form
     */
    CompletableFuture<List<HeldRevision>> heldRevisions(Partition partition, List<LedgerEntry> messages);

    /**
     * Returns the dead letter of a message that the store refused, in its own form.
     * @param cause why it was refused
     * @param now the time of the store
     */
    RecordedDeadLetter toDeadLetter(NewMessage message, String deadLetterId, String cause, Instant now);

    /**
     * Stores dead letters again that the partition has lost.
     * @param deadline the time of the store, in microseconds since the epoch, after which
     * it rejects the call
     * @return how many it had lost
     */
    CompletableFuture<Integer> restoreDeadLetters(Partition partition, long deadline,
            List<RecordedDeadLetter> deadLetters);

    /** Removes a dead letter; returns {@code false} if there is none with that id. */
    CompletableFuture<Boolean> purge(Partition partition, String deadLetterId);

    /** Removes a dead letter whose message has been sent again. */
    default CompletableFuture<Boolean> removeRedriven(Partition partition, String deadLetterId) {
        return purge(partition, deadLetterId);
    }

    /**
     * Removes dead letters of at least this age, the oldest first.
     * @param age zero for all
     * @return the number of removed dead letters, at most {@link #BATCH_LIMIT}
     */
    CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age);

}
