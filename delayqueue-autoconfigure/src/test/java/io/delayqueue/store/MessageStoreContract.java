package io.delayqueue.store;

import java.util.function.Supplier;

import io.delayqueue.testing.ManualClock;
import org.junit.jupiter.api.Nested;

/**
 * What every store is held to: an answer and an effect for each operation in each state,
 * as docs/state-table.md lists them, and the promises P1 to P11 as far as one process can
 * see them. A store's test extends this class and says in the hooks how to reach it.
 * <p>
 * After each case the queue is emptied and {@link #assertNothingLeft()} is asked, at once
 * if the case left the queue empty: P10 holds for all of them.
 */
public abstract class MessageStoreContract {

    /** The store, empty when a case begins. */
    protected abstract MessageStore store();

    /** Looks at what {@link #store()} holds. */
    protected abstract MessageInspector inspector();

    /** How the queues of {@link #store()} are spread. */
    protected abstract PartitionLayoutStore records();

    /** Looks at queues of {@link #store()} as a whole. */
    protected abstract QueueInspector queueInspector();

    /** The list of queues; empty when a case begins. */
    protected abstract QueueRegistry directory();

    /** What nodes tell of themselves; empty when a case begins. */
    protected abstract NodeRegistry nodes();

    /** Tells of what is put into {@link #store()}. */
    protected abstract WakeUps wakeUps();

    /** The time of the store: it goes by this clock and no other. */
    protected abstract ManualClock clock();

    /**
     * Fails if the store holds anything of {@link StoreValues#QUEUE}, hidden or not, but
     * for settings.
     */
    protected abstract void assertNothingLeft();

    /**
     * Makes one call of the store take place twice, as when the connection sends it again
     * after its reply was lost, and returns the answer of the second time. By default the
     * method is called twice, which is the same thing except for sends and redrives.
     */
    protected <T> T replay(Supplier<T> call) {
        call.get();
        return call.get();
    }

    /**
     * Whether {@link #replay} can repeat a send or a redrive with the stamp of the first
     * time. Cases that need it are skipped otherwise.
     */
    protected boolean replaysStamps() {
        return false;
    }

    /** Whether alarms ring once when their subscription has come into force. */
    protected boolean ringsWhenSubscribed() {
        return false;
    }

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

    /** P6, P7: what is cancelled is not claimed, and the caller is told which it was. */
    @Nested
    class Cancel extends CancelCases {

        Cancel() {
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
    class ClaimDue extends ClaimCases {

        ClaimDue() {
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
    class Die extends DeadLetterCases {

        Die() {
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
     * P9: dead letters are removed only when somebody asks for it, and nothing else is.
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
    class Spread extends PartitionCases {

        Spread() {
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

    /** P3: who keeps the partition decides who hurries, and not who may claim. */
    @Nested
    class Keeper extends KeeperCases {

        Keeper() {
            super(MessageStoreContract.this);
        }

    }

    /** P3, P10: while a queue is paused nothing is claimed, and nothing is lost. */
    @Nested
    class Pausing extends PauseCases {

        Pausing() {
            super(MessageStoreContract.this);
        }

    }

    /** What people are told of a queue as a whole is so. */
    @Nested
    class Overview extends OverviewCases {

        Overview() {
            super(MessageStoreContract.this);
        }

    }

    /** P10: the list of queues, which outlives messages. */
    @Nested
    class Directory extends DirectoryCases {

        Directory() {
            super(MessageStoreContract.this);
        }

    }

    /** What is listed is there, each message once, however many there are. */
    @Nested
    class Lists extends ListingCases {

        Lists() {
            super(MessageStoreContract.this);
        }

    }

}
