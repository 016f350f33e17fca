package io.delayqueue.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CancelResult;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;

/**
 * Where messages live. Each method is one transition of a message's state machine, atomic
 * and visible to all processes when its future completes. Senders name the
 * {@link PartitionTarget} of an id; all else happens in the {@link Partition} that a
 * message is known to be in.
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
 * A lease that runs out needs no method: the next {@code claim} finds it, and every
 * method of a sender treats such a message as {@code SCHEDULED} again.
 * <p>
 * The methods that take a {@link Lease} are fenced: once its message has passed on they
 * change nothing and answer {@code false}. A call that is repeated by the connection,
 * with nothing having happened to the message in between, leaves the state of one call
 * and answers as the first time.
 * <p>
 * <strong>Threads.</strong> All methods may be called from any thread and do not wait,
 * unless {@link #waits()}. A future always completes within the store's time limit:
 * exceptionally with a {@link io.delayqueue.DelayQueueException}, and on a thread that
 * must not be blocked.
 */
public interface MessageStore {

    /** Most messages, or leases, of one call. */
    int BATCH_LIMIT = 100;

    /**
     * Bytes of contents after which a call reads no more of them, so that large messages
     * do not keep the store from answering others.
     */
    int CONTENT_LIMIT = 1 << 20;

    /** Whether methods wait for the answer, or do the work, on the caller's thread. */
    default boolean waits() {
        return false;
    }

    /**
     * Adds messages, or applies them to what the queue holds under their ids: all or, if
     * the future fails, none as far as is known. Messages that all are
     * {@linkplain NewMessage#unique() unique} are never refused for the version of the
     * home.
     * @param messages at most {@link #BATCH_LIMIT}, with ids that differ
     * @return the answers in the order of {@code messages}
     */
    CompletableFuture<List<SendResult>> schedule(PartitionTarget home, List<NewMessage> messages);

    /**
     * As {@link #schedule}, but leaves out messages whose ids the partition does not
     * hold, unless it holds others of their groups: their answers are empty.
     */
    CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget home, List<NewMessage> messages);

    /**
     * Leases due messages, highest lane first, the longest due first, after returning
     * leases that ran out. Removes at most {@link #BATCH_LIMIT} messages that have
     * expired. Of large messages it leases fewer than asked for, and at least one; if it
     * leaves due messages behind, the next time in its answer is not later than now.
     */
    CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request);

    /**
     * Gives up keeping a partition, so that others hurry.
     * @param node who kept it
     * @return {@code false} if another keeps it or nobody does
     */
    CompletableFuture<Boolean> resign(Partition partition, String node);

    /**
     * Ends leases because their messages were handled; the messages are gone.
     * @param leases at most {@link #BATCH_LIMIT}, each once
     */
    CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases);

    /** Makes leases last at least {@code leaseTime} from now; never shortens one. */
    CompletableFuture<List<Boolean>> extend(Partition partition, List<Lease> leases, Duration leaseTime);

    /**
     * Records that the handler of a suspect is about to start, so that, should its lease
     * run out again, that counts as a lapse.
     */
    CompletableFuture<Boolean> start(Lease lease);

    /**
     * Ends a lease because the handler failed: due again after {@code delay}, unless it
     * was cancelled meanwhile or has a successor.
     * @param failure what went wrong, kept with the message; at most a few thousand
     * characters
     */
    CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure);

    /** Gives messages back with no attempt burned: due again after {@code delay}. */
    CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay);

    /**
     * Gives messages back whose attempts were not begun: each is due when its attempt
     * was, so that it comes before what became due later; at the latest now.
     */
    CompletableFuture<List<Boolean>> release(Partition partition, List<DueLease> leases);

    /**
     * Ends a lease because trying is over. The dead letter is named
     * {@link Lease#letterId()}.
     */
    CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterReason death);

    /** Removes a message that waits, or forbids the retry of one that is leased. */
    CompletableFuture<CancelResult> cancel(PartitionTarget home, String id);

    /** Changes the due time of a message that waits. */
    CompletableFuture<RescheduleResult> reschedule(PartitionTarget home, String id, DueTime due);

    /**
     * Makes the message of a dead letter due now, with its attempts anew, in a queue that
     * was never spread: elsewhere its place may be another by now, and it is sent there.
     */
    CompletableFuture<RedriveResult> redrive(PartitionTarget home, String letterId);

    /** Removes one dead letter; {@code false} if there is none of that name. */
    CompletableFuture<Boolean> purge(Partition partition, String letterId);

    /**
     * Removes dead letters that are at least so old, the oldest first.
     * @param age zero for all
     * @return how many were removed, at most {@link #BATCH_LIMIT}
     */
    CompletableFuture<Integer> purgeOlderThan(Partition partition, Duration age);

}
