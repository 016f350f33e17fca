package io.delayqueue.store.contract;

import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.contract.claim.ClaimCases;
import io.delayqueue.store.contract.claim.ExpiryCases;
import io.delayqueue.store.contract.claim.GroupCases;
import io.delayqueue.store.contract.claim.GroupMemberCases;
import io.delayqueue.store.contract.claim.LaneCases;
import io.delayqueue.store.contract.claim.PartitionCases;
import io.delayqueue.store.contract.claim.PauseCases;
import io.delayqueue.store.contract.claim.PrimaryPollerCases;
import io.delayqueue.store.contract.claim.StartCases;
import io.delayqueue.store.contract.claim.WakeUpCases;
import io.delayqueue.store.contract.inspect.ActivityCases;
import io.delayqueue.store.contract.inspect.FindCases;
import io.delayqueue.store.contract.inspect.ListingCases;
import io.delayqueue.store.contract.inspect.NodeCases;
import io.delayqueue.store.contract.inspect.OverviewCases;
import io.delayqueue.store.contract.inspect.QueueRegistryCases;
import io.delayqueue.store.contract.inspect.ScanCases;
import io.delayqueue.store.contract.send.BatchCases;
import io.delayqueue.store.contract.send.CancelCases;
import io.delayqueue.store.contract.send.DuplicateWindowCases;
import io.delayqueue.store.contract.send.OccurrenceRowCases;
import io.delayqueue.store.contract.send.RescheduleCases;
import io.delayqueue.store.contract.send.RoundingCases;
import io.delayqueue.store.contract.send.ScheduleCases;
import io.delayqueue.store.contract.send.SendAfterCurrentCases;
import io.delayqueue.store.contract.send.SendKeepCases;
import io.delayqueue.store.contract.send.SendReplaceCases;
import io.delayqueue.store.contract.settle.AcknowledgeBatchCases;
import io.delayqueue.store.contract.settle.AcknowledgeCases;
import io.delayqueue.store.contract.settle.DeadLetterCases;
import io.delayqueue.store.contract.settle.ExtendCases;
import io.delayqueue.store.contract.settle.JournalCallCases;
import io.delayqueue.store.contract.settle.JournalCases;
import io.delayqueue.store.contract.settle.JournalOfferCases;
import io.delayqueue.store.contract.settle.JournalVoidCases;
import io.delayqueue.store.contract.settle.PurgeCases;
import io.delayqueue.store.contract.settle.RedriveCases;
import io.delayqueue.store.contract.settle.ReleaseCases;
import io.delayqueue.store.contract.settle.RetryCases;
import org.junit.jupiter.api.Nested;

/**
 * Defines the contract of every store: an answer and an effect for each operation in each
 * state, as docs/internals/state-table.md lists them, and the promises P1 to P11 as far
 * as one process can see them. A store's test extends this class and implements
 * {@link StoreFixture}.
 * <p>
 * After each case the queue is emptied and {@link #assertNothingLeft()} is called, at
 * once if the case left the queue empty: P10 holds for all of them.
 */
public abstract class MessageStoreContract implements StoreFixture {

    /** P1, P8: a send to an id that the queue holds keeps what is there. */
    @Nested
    class SendKeep extends SendKeepCases {

        SendKeep() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P8: a send that keeps what waits and follows what is leased. */
    @Nested
    class SendAfterCurrent extends SendAfterCurrentCases {

        SendAfterCurrent() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P7, P8: a send that replaces what is there, all of it or nothing. */
    @Nested
    class SendReplace extends SendReplaceCases {

        SendReplace() {
            super(MessageStoreContract.this);
        }

    }

    /** P8: an id is kept out while its duplicate window runs. */
    @Nested
    class DuplicateWindows extends DuplicateWindowCases {

        DuplicateWindows() {
            super(MessageStoreContract.this);
        }

    }

    /**
     * P6, P7: a cancelled message is not claimed, and the answer says whether the cancel
     * or the claim came first.
     */
    @Nested
    class Cancel extends CancelCases {

        Cancel() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P6: messages are restored unless they have ended. */
    @Nested
    class MessagesOfAJournal extends JournalCases {

        MessagesOfAJournal() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P6: an offer of a journal has the effect of its state, and no other. */
    @Nested
    class CallsOfAJournal extends JournalCallCases {

        CallsOfAJournal() {
            super(MessageStoreContract.this);
        }

    }

    /** P6: what a request of a journal has made void stays away. */
    @Nested
    class VoidMessagesOfAJournal extends JournalVoidCases {

        VoidMessagesOfAJournal() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P6: an offer of a journal has the effect of its state, and no other. */
    @Nested
    class OffersOfAJournal extends JournalOfferCases {

        OffersOfAJournal() {
            super(MessageStoreContract.this);
        }

    }

    /** P7: a message that waits is moved in place, one that is leased is not. */
    @Nested
    class Reschedule extends RescheduleCases {

        Reschedule() {
            super(MessageStoreContract.this);
        }

    }

    /** P3, P4: what is due is leased, to one caller at a time. */
    @Nested
    class Claims extends ClaimCases {

        Claims() {
            super(MessageStoreContract.this);
        }

    }

    /** P5: only the holder of a lease ends it, and then the message is gone. */
    @Nested
    class Acknowledge extends AcknowledgeCases {

        Acknowledge() {
            super(MessageStoreContract.this);
        }

    }

    /** P5: so does each of many holders in one call. */
    @Nested
    class AcknowledgeBatches extends AcknowledgeBatchCases {

        AcknowledgeBatches() {
            super(MessageStoreContract.this);
        }

    }

    /** P5, P9, P11: a failed attempt counts once. */
    @Nested
    class Retry extends RetryCases {

        Retry() {
            super(MessageStoreContract.this);
        }

    }

    /** P5, P11, P12: a message that is given back has burned no attempt. */
    @Nested
    class Release extends ReleaseCases {

        Release() {
            super(MessageStoreContract.this);
        }

    }

    /** P4, P5: a lease lasts longer, and never shorter, as long as it is the caller's. */
    @Nested
    class Extend extends ExtendCases {

        Extend() {
            super(MessageStoreContract.this);
        }

    }

    /** P5, P9: only a lease that runs out after a recorded start counts as a lapse. */
    @Nested
    class Start extends StartCases {

        Start() {
            super(MessageStoreContract.this);
        }

    }

    /** P5, P9, P11: there is exactly one dead letter, and it says why. */
    @Nested
    class DeadLetters extends DeadLetterCases {

        DeadLetters() {
            super(MessageStoreContract.this);
        }

    }

    /** P8, P11: a dead letter comes back unless its id is in use. */
    @Nested
    class Redrive extends RedriveCases {

        Redrive() {
            super(MessageStoreContract.this);
        }

    }

    /**
     * P9: dead letters are removed only on request, and nothing else is removed.
     */
    @Nested
    class Purge extends PurgeCases {

        Purge() {
            super(MessageStoreContract.this);
        }

    }

    /** A look shows what is there and changes nothing. */
    @Nested
    class Find extends FindCases {

        Find() {
            super(MessageStoreContract.this);
        }

    }

    /** P2: never early, by no microsecond. */
    @Nested
    class Rounding extends RoundingCases {

        Rounding() {
            super(MessageStoreContract.this);
        }

    }

    /** Lanes go strictly from the highest down, and each by due time. */
    @Nested
    class Lanes extends LaneCases {

        Lanes() {
            super(MessageStoreContract.this);
        }

    }

    /** P3, P4: one at a time in due order, over all who claim; none slows another. */
    @Nested
    class Groups extends GroupCases {

        Groups() {
            super(MessageStoreContract.this);
        }

    }

    /** P7, P8: what is done to one of a group leaves the others in their order. */
    @Nested
    class GroupMembers extends GroupMemberCases {

        GroupMembers() {
            super(MessageStoreContract.this);
        }

    }

    /** P9: what has expired is not handled, and dropped only if that was asked for. */
    @Nested
    class Expiry extends ExpiryCases {

        Expiry() {
            super(MessageStoreContract.this);
        }

    }

    /** P3, P4: many at once are treated as one by one. */
    @Nested
    class Batches extends BatchCases {

        Batches() {
            super(MessageStoreContract.this);
        }

    }

    /** P8: an id is admitted by one partition at a time. */
    @Nested
    class Partitions extends PartitionCases {

        Partitions() {
            super(MessageStoreContract.this);
        }

    }

    /** P3: what becomes due earlier than planned wakes those who wait. */
    @Nested
    class WakeUp extends WakeUpCases {

        WakeUp() {
            super(MessageStoreContract.this);
        }

    }

    /** P3: the primary poller polls first, and every node may claim. */
    @Nested
    class PrimaryPollers extends PrimaryPollerCases {

        PrimaryPollers() {
            super(MessageStoreContract.this);
        }

    }

    /** P3, P10: while a queue is paused nothing is claimed, and nothing is lost. */
    @Nested
    class Pauses extends PauseCases {

        Pauses() {
            super(MessageStoreContract.this);
        }

    }

    /** The statistics of a queue are correct. */
    @Nested
    class Overview extends OverviewCases {

        Overview() {
            super(MessageStoreContract.this);
        }

    }

    /** P10: the list of queues, which outlives messages. */
    @Nested
    class Directory extends QueueRegistryCases {

        Directory() {
            super(MessageStoreContract.this);
        }

    }

    /** The activity of queues by minute, on which no message depends. */
    @Nested
    class Activity extends ActivityCases {

        Activity() {
            super(MessageStoreContract.this);
        }

    }

    /** The wanted state of a node, which ends with the node. */
    @Nested
    class Nodes extends NodeCases {

        Nodes() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P8: each occurrence of a schedule is sent once, or counted as skipped. */
    @Nested
    class Schedules extends ScheduleCases {

        Schedules() {
            super(MessageStoreContract.this);
        }

    }

    /** P1, P8: the row of an occurrence ends with its message, or without one. */
    @Nested
    class RowsOfOccurrences extends OccurrenceRowCases {

        RowsOfOccurrences() {
            super(MessageStoreContract.this);
        }

    }

    /** A scan finds each message at least once, and changes nothing. */
    @Nested
    class Scans extends ScanCases {

        Scans() {
            super(MessageStoreContract.this);
        }

    }

    /** Listings contain each message once, however many there are. */
    @Nested
    class Listings extends ListingCases {

        Listings() {
            super(MessageStoreContract.this);
        }

    }

}
